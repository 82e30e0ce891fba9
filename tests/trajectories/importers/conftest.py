"""What these tests share with those of the store."""

from tests.trajectories.test_full_disk import small_disk

__all__ = ["small_disk"]
