"""Images of root file systems: read without privileges, and unpacked once into the cache.

`archive` finds the image in a tar file, an OCI layout or a plain folder; `layers` reads the tar
of a layer within limits; `tree` applies layers to each other, in memory; `store` unpacks the
result and finds it again. Nothing of an image is executed on the host, and its links are not
followed there.
"""

from longfat.engine.images.store import (
    Unpacked,
    find_image,
    forget_folders,
    image_folder,
    images_shown,
    is_unpacked,
    remove_image,
    unpacked_images,
)

__all__ = [
    "Unpacked",
    "find_image",
    "forget_folders",
    "image_folder",
    "images_shown",
    "is_unpacked",
    "remove_image",
    "unpacked_images",
]
