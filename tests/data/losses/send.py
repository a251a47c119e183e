"""Send more datagrams at once than a socket's buffer takes."""

import socket
import time

sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(1000):
    sender.sendto(bytes(1000), ("10.0.2.1", 5201))
time.sleep(1)
