"""Drawings of networks: for pages, and as files of their own."""

from longfat.output.drawing.picture import MAX_NODES, draw_network, network_picture, words_of
from longfat.output.drawing.save import picture_bytes

__all__ = ["MAX_NODES", "draw_network", "network_picture", "picture_bytes", "words_of"]
