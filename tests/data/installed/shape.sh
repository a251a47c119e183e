#!/bin/sh
tc qdisc add dev r1-eth1 root handle 1: tbf rate 20mbit burst 16k limit 60k
