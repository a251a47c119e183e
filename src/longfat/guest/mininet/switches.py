"""Mininet's switches and controllers: bridges here, and nothing."""

# mypy: allow-untyped-defs, allow-untyped-calls

import re

from longfat.guest.mininet.nodes import Node
from longfat.guest.mininet.record import RECORD

_OF_OPENFLOW = ("dpid", "protocols", "datapath", "inband", "batch", "opts")


class Switch(Node):
    portBase = 1
    is_switch = True
    ignored = {"attach": None, "detach": None, "connected": True, "isOldOVS": False}
    left_out = dict.fromkeys(("vsctl", "dpctl"), ("switches are Linux bridges", ""))

    def __init__(self, name, dpid=None, opts="", listenPort=None, **params):
        super().__init__(name, **params)
        digits = re.search(r"\d+", name)
        derived = f"{int(digits[0]):x}" if digits else ""
        self.dpid = (str(dpid).replace(":", "") if dpid else derived).zfill(16)
        self.controllers: list[Controller] = []
        # A bridge without a controller is as it is here whatever its number.
        for option in () if params.get("failMode") == "standalone" else _OF_OPENFLOW:
            if {**params, "dpid": dpid, "opts": opts}.get(option):
                why = "switches are no OpenFlow switches"
                RECORD.warn(f"{name}: {option} is left out: {why}")
        if params.get("stp"):
            RECORD.warn(f"{name}: stp is left out: a bridge here has no spanning tree")

    def start(self, controllers=()):
        self.controllers = list(controllers)

    def defaultIntf(self):
        return None

    def setIP(self, *args, **named):
        RECORD.warn(f"{self.name}: setIP is left out: switches have no addresses")


class OVSSwitch(Switch):
    def __init__(self, name, failMode="secure", **params):
        super().__init__(name, failMode=failMode, **params)
        self.failMode = failMode

    def start(self, controllers=()):
        super().start(controllers)
        if self.failMode == "standalone":
            return
        far = [one for one in self.controllers if isinstance(one, RemoteController)]
        if not self.controllers:
            why = "it has no controller"
        elif len(far) == len(self.controllers):
            why = f"the controller {far[0].name} is another program, unless that is running"
        else:
            return
        RECORD.warn(
            f"it forwards nothing in Mininet: {why}; here it is a learning bridge", self.name
        )


class OVSBridge(OVSSwitch):
    def __init__(self, *args, **params):
        super().__init__(*args, **{**params, "failMode": "standalone"})


class LinuxBridge(Switch):
    pass


class UserSwitch(Switch):
    pass


class IVSSwitch(Switch):
    pass


class Controller(Node):
    """A controller, which the network has none of: see `Mininet.addController`."""

    ignored = {"start": None}

    def __init__(self, name, inNamespace=False, **params):
        super().__init__(name, inNamespace=inNamespace, **params)
        RECORD.nodes.remove(self)
        self.ip, self.port = params.get("ip", "127.0.0.1"), params.get("port", 6653)

    def IP(self, intf=None):
        return self.ip

    def cmd(self, *args, **named):
        RECORD.warn(f"what is typed at the controller {self.name} is left out")
        return ""


class RemoteController(Controller):
    pass
