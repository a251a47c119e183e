#!/bin/sh
# What this case did, in order; t is virtual time since boot, in seconds.
# On a real Linux machine, as root: sh commands.sh
mkdir -p raw

# the network
# t=0.000340
ip link set lo up
ip netns add h1
ip netns add h2
ip link add s1 type bridge
ip link set s1 up
ip link add s2 type bridge
ip link set s2 up
ip link add h1-eth0 netns h1 type veth peer name s1-eth1
ip link set s1-eth1 master s1
ip link set s1-eth1 up
ip link add s1-eth2 type veth peer name s2-eth1
ip link set s1-eth2 master s1
ip link set s1-eth2 up
ip link set s2-eth1 master s2
ip link set s2-eth1 up
ip link add h2-eth0 netns h2 type veth peer name s2-eth2
ip link set s2-eth2 master s2
ip link set s2-eth2 up
# t=0.000366
ip -n h1 link set lo up
ip -n h1 addr add 10.0.0.1/8 dev h1-eth0
ip -n h1 link set h1-eth0 up
# t=0.000386
ip -n h2 link set lo up
ip -n h2 addr add 10.0.0.2/8 dev h2-eth0
ip -n h2 link set h2-eth0 up

# set-up

# traffic
sleep 1.5
sleep 0.5
# t=2.000051
ip netns exec h1 ping -c 4 10.0.0.2 > raw/ping.txt 2> raw/ping.txt.err &
flow_1=$!
# t=5.120002
wait $flow_1    # flow ping ended
