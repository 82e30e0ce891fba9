"""Who acts, and what is kept: tasks, policies, the recorder."""

from collectors.collect import CollectSummary, Progress, collect
from collectors.policies import POLICY_NAMES, History, Policy
from collectors.recorder import Origin, Recorder
from collectors.runs import RunBusyError
from collectors.task_yaml import TaskFileError
from collectors.tasks import Task, load_tasks

__all__ = [
    "POLICY_NAMES",
    "CollectSummary",
    "History",
    "Origin",
    "Policy",
    "Progress",
    "Recorder",
    "RunBusyError",
    "Task",
    "TaskFileError",
    "collect",
    "load_tasks",
]
