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
# t=0.000406
tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms
# t=0.000429
tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 25000000
# t=0.000452
ip netns exec h1 sysctl -w net.ipv4.tcp_rmem='10240 87380 52428800'
# t=0.000485
ip netns exec h2 sysctl -w net.ipv4.tcp_rmem='10240 87380 52428800'
# t=0.000518
ip netns exec h1 sysctl -w net.ipv4.tcp_wmem='10240 87380 52428800'
# t=0.000550
ip netns exec h2 sysctl -w net.ipv4.tcp_wmem='10240 87380 52428800'

# traffic
sleep 1.499
# t=1.500051
ip netns exec h2 iperf3 -s -1 -J > raw/bulk.server.json 2> raw/bulk.server.json.err &
sleep 0.5
# t=2.000051
ip netns exec h1 ping -c 4 10.0.0.2 > raw/ping.txt 2> raw/ping.txt.err &
flow_1=$!
# t=5.023003
wait $flow_1    # flow ping ended
# t=5.023005
ip netns exec h1 iperf3 -c 10.0.0.2 -t 10 -J > raw/bulk.client.json 2> raw/bulk.client.json.err &
flow_2=$!
# t=15.164932
wait $flow_2    # flow bulk ended
