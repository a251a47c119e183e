"""Packets of a capture: decoded, filtered, followed.

A capture is read by a decoder in a process of its own (`decoders`), since its bytes may be
anybody's: tshark where it is installed and can be put into a sandbox, else dpkt with our own
analysis of TCP. Both give one line of text a packet, with the same fields (`columns`), which
become a `PacketTable`: what lists, filters, plots and diagrams are made from.
"""
