"""What a run measured over time: one definition of each quantity, for every screen.

`longfat watch`, the studio, reports, `longfat plot`, figures of grids and the diagnosis take
their curves from here, so that they show one number for one moment, whether the run is going on
or has ended.

**Throughput** (bit/s) is what has arrived at the receiver, also beyond a hole that a lost segment
left. The sender's kernel counts it: bytes that were acknowledged, and what was acknowledged
selectively (`quantities.ArrivedBytes`). Bytes that the receiver could hand on in order
(`bytes_received`), or that were acknowledged cumulatively, stop at a hole and jump when it is
repaired: such a curve has dips that no link had and peaks above the capacity of the path (over a
line of 50 Mbit/s with a loss of 0.05 %, intervals of 100 ms of 0 and of 101 Mbit/s). What a sender
put into its socket, which the sender's rows of iperf3 count, has not arrived yet: it is used only
for runs without a tcp probe. Of many streams it is the sum.

**The interval** of a throughput is 100 ms, or the least smoothed round-trip time so far if that is
longer: a sender that waits for its window sends once in a round trip, so that over less the rate is
0 and a multiple of itself by turns. In a figure of a long run it is longer, so that there are at
most 600 values. The value is at the middle of its interval. A row of `longfat watch` is the mean of
its second, and the raw throughput of the studio is over one sampling interval, of the same count.

**RTT** (seconds) is the smoothed one of the sender's TCP at the sample, the mean of the streams;
**cwnd** (bytes) that of the sender, their sum. Streams count as long as their sockets exist.
**Retransmits** (segments), **drops** and **marks** (packets) are counted from the traffic's start,
over all streams or qdiscs, those that have ended included; a counter that decreases began again.

**A queue** (bytes) is the backlog of the first qdisc from the root down that is no netem, since
netem's backlog is on the line already (`longfat.model.probes.queue.the_queue`).

Time is virtual, in seconds after the traffic's start; in a live session after the machine's boot.

    quantities  the definitions, on plain numbers
    states      flows and queues sample by sample, for runs that go on
    live        the state of a run from the files that its samplers write
    sources     samples of probes and rows of reports of a run that has ended
    curves      the curves of a run that has ended
    groups      runs that differ in their seeds only
    levels      the capacity, BDP and idle RTT of live flows, for comparison
"""
