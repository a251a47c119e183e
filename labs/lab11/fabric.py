"""The switching fabric of a router: it takes packets from an input port to output ports.

    fabric.py INPUT ADDRESS...

It takes the packets that arrive at the interface INPUT in their order, and hands each to the
output port of its destination. An output port whose queue is full takes no packet; then the
fabric waits, and with it all packets behind. It leaves out packets to other addresses than
those named: they are another fabric's.
"""

import socket
import sys

ETH_P_IP = 0x0800
DESTINATION = slice(16, 20)  # in the header of IPv4
INPUT_QUEUE = 150_000  # bytes as the kernel counts them, with its own structures

port, *addresses = sys.argv[1:]
arrivals = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
arrivals.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, INPUT_QUEUE)
arrivals.bind((port, ETH_P_IP))
outputs = {}
for address in addresses:
    outputs[address] = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    # The least that Linux allows, a few packets: sending waits until they have left the port.
    outputs[address].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 0)
while True:
    packet = arrivals.recv(65535)
    address = socket.inet_ntoa(packet[DESTINATION])
    if address in outputs:
        outputs[address].sendto(packet, (address, 0))
