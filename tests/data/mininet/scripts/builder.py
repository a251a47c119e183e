"""What `from_a_file.py` builds its network by."""


def build(net, names):
    switch = net.addSwitch("s1")
    for name in names["hosts"]:
        net.addLink(net.addHost(name), switch)
