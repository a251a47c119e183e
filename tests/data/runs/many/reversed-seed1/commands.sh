#!/bin/sh
# What this case did, in order; t is virtual time since boot, in seconds.
# On a real Linux machine, as root: sh commands.sh
mkdir -p raw

# the network
# t=0.000353
ip link set lo up
ip netns add h1
ip netns add h2
ip netns add h3
ip netns add h4
ip link add s1 type bridge
ip link set s1 up
ip link add s2 type bridge
ip link set s2 up
ip link add s1-eth1 type veth peer name s2-eth1
ip link set s1-eth1 master s1
ip link set s1-eth1 up
ip link set s2-eth1 master s2
ip link set s2-eth1 up
ip link add h1-eth0 netns h1 type veth peer name s1-eth2
ip link set s1-eth2 master s1
ip link set s1-eth2 up
ip link add h3-eth0 netns h3 type veth peer name s1-eth3
ip link set s1-eth3 master s1
ip link set s1-eth3 up
ip link add h2-eth0 netns h2 type veth peer name s2-eth2
ip link set s2-eth2 master s2
ip link set s2-eth2 up
ip link add h4-eth0 netns h4 type veth peer name s2-eth3
ip link set s2-eth3 master s2
ip link set s2-eth3 up
# t=0.000384
ip -n h1 link set lo up
ip -n h1 addr add 10.0.0.1/8 dev h1-eth0
ip -n h1 link set h1-eth0 up
# t=0.000403
ip -n h2 link set lo up
ip -n h2 addr add 10.0.0.2/8 dev h2-eth0
ip -n h2 link set h2-eth0 up
# t=0.000423
ip -n h3 link set lo up
ip -n h3 addr add 10.0.0.3/8 dev h3-eth0
ip -n h3 link set h3-eth0 up
# t=0.000443
ip -n h4 link set lo up
ip -n h4 addr add 10.0.0.4/8 dev h4-eth0
ip -n h4 link set h4-eth0 up

# set-up
# t=0.000463
tc qdisc add dev s1-eth1 root handle 1: netem delay 5ms
# t=0.000486
tc qdisc add dev s2-eth1 root handle 1: netem delay 5ms
# t=0.000508
tc qdisc add dev s2-eth1 parent 1: handle 2: tbf rate 80mbit burst 50000 limit 250000

# traffic
sleep 1.499
# t=1.500051
ip netns exec h2 iperf3 -s -1 -J > raw/bulk.server.json 2> raw/bulk.server.json.err &
sleep 0.5
# t=2.000051
ip netns exec h1 ping -c 5 10.0.0.3 > raw/lost.txt 2> raw/lost.txt.err &
flow_1=$!
# t=2.000059
ip netns exec h1 iperf3 -c 10.0.0.2 -t 6 -R -J > raw/bulk.client.json 2> raw/bulk.client.json.err &
flow_2=$!
# t=6.160002
wait $flow_1    # flow lost ended
# t=8.133950
wait $flow_2    # flow bulk ended
