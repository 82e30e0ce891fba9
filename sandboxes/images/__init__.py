"""Sandbox images: what they are made of, and how they are built for each engine."""

from sandboxes.images.build import BuiltImage, ImageEngine, build_image, is_built
from sandboxes.images.definition import image_names
from sandboxes.images.folders import cache_folder
from sandboxes.images.unpacked import UnpackedImage, unpacked_image

__all__ = [
    "BuiltImage",
    "ImageEngine",
    "UnpackedImage",
    "build_image",
    "cache_folder",
    "image_names",
    "is_built",
    "unpacked_image",
]
