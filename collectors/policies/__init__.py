"""What decides the next action: scripted and exploring policies, by name."""

from collectors.policies.base import History, Policy, generator
from collectors.policies.registry import POLICY_NAMES, make_policy

__all__ = ["POLICY_NAMES", "History", "Policy", "generator", "make_policy"]
