"""Sends back what it gets, once."""

import socket
import sys

with socket.create_server(("", int(sys.argv[1]))) as server:
    connection, _ = server.accept()
    with connection:
        connection.sendall(connection.recv(100))
