"""What all tests have in common."""

from hypothesis import HealthCheck, settings

# How fast a machine is says nothing about the product: properties have no deadline, and drawing examples no health.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")
