"""Receive nothing of what comes."""

import socket
import time

receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("", 5201))
time.sleep(9)
