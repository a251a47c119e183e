"""Asks a server, and prints what comes back."""

import socket
import sys

with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    connection.sendall(b"hello")
    print("answer:", connection.recv(100).decode())
