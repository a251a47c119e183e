"""A topology from a file, by a module beside the script."""
import json

from mininet.net import Mininet
from mininet.node import OVSBridge

import builder

with open("topo.json") as file:
    names = json.load(file)
net = Mininet(switch=OVSBridge, controller=None)
builder.build(net, names)
net.start()
net.pingAll()
net.stop()
