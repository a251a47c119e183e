#!/bin/sh
# What this case did, in order; t is virtual time since boot, in seconds.
# On a real Linux machine, as root: sh commands.sh
mkdir -p raw

# the network
# t=0.000368
ip link set lo up
ip netns add h1
ip netns add h2
ip link add s1 type bridge
ip link set s1 up
ip link add h1-eth0 netns h1 type veth peer name s1-eth1
ip link set s1-eth1 master s1
ip link set s1-eth1 up
ip link add h2-eth0 netns h2 type veth peer name s1-eth2
ip link set s1-eth2 master s1
ip link set s1-eth2 up
# t=0.000393
ip -n h1 link set lo up
ip -n h1 addr add 10.0.0.1/8 dev h1-eth0
ip -n h1 link set h1-eth0 up
# t=0.000413
ip -n h2 link set lo up
ip -n h2 addr add 10.0.0.2/8 dev h2-eth0
ip -n h2 link set h2-eth0 up

# set-up
# t=0.000433
tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms loss 1%
# t=0.000456
tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 50000 limit 250000

# traffic
sleep 1.5
# t=1.500001
ip netns exec h2 iperf3 -s -1 -J > raw/bulk.server.json 2> raw/bulk.server.json.err &
sleep 0.5
# t=2.000001
ip netns exec h1 ping -c 3 10.0.0.2 > raw/rtt.txt 2> raw/rtt.txt.err &
flow_1=$!
# t=4.012004
wait $flow_1    # flow rtt ended
# t=4.012005
ip netns exec h1 iperf3 -c 10.0.0.2 -t 2 -J > raw/bulk.client.json 2> raw/bulk.client.json.err &
flow_2=$!
# t=6.083054
wait $flow_2    # flow bulk ended
