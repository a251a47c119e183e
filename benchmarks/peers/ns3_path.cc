// One TCP flow through one bottleneck on ns-3, for compare.py: host, switch, switch, host.
//
// A host's link is fast and has no queue to speak of; the bottleneck has a token bucket over a
// FIFO or over RED. What was measured is printed as JSON. With --watch, cwnd, RTT and the queue
// are looked at too, every 100 ms; a run that is timed goes without. With --cpu it ends early
// once that is spent, and tells how much time it simulated.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>

using namespace ns3;

namespace {

constexpr uint16_t kPort = 5201;
constexpr uint32_t kWriteBytes = 131072;  // what iperf3 hands to one write()
const char* const kFast = "100Gbps";
const char* const kDeepQueue = "10000000p";
const Time kEvery = MilliSeconds(100);

struct Workload {
  uint64_t rate_bps = 1000000000;
  double rtt_s = 0.02;
  double seconds = 10;
  double cpu_s = 0;  // 0 for no limit
  uint32_t burst_bytes = 0;
  uint32_t limit_bytes = 0;
  double red_min_bytes = 0;  // no RED where both are 0
  double red_max_bytes = 0;
  double red_weight = 0;
  uint32_t send_buffer_bytes = 0;
  uint32_t receive_buffer_bytes = 0;
  int bottleneck = 2;  // the link that is shaped: 1 between the switches, 2 to the receiver
  std::string shaper = "tbf";
  bool hystart = true;
  bool watch = false;
};

class Mean {
 public:
  void Add(double value) {
    sum_ += value;
    peak_ = std::max(peak_, value);
    ++count_;
  }
  double Value() const { return count_ == 0 ? 0 : sum_ / count_; }
  double Peak() const { return peak_; }

 private:
  double sum_ = 0;
  double peak_ = 0;
  uint64_t count_ = 0;
};

// Looks at the flow and at the bottleneck's queue while they run.
class Watch {
 public:
  Watch(Ptr<BulkSendApplication> sender, Ptr<QueueDisc> queue) : sender_(sender), queue_(queue) {
    Simulator::Schedule(NanoSeconds(1), &Watch::Begin, this);
  }

  void Print(std::ostream& out) const {
    out << ", \"retransmits\": " << retransmits_ << ", \"peak_cwnd_bytes\": " << cwnd_.Peak()
        << ", \"mean_cwnd_bytes\": " << cwnd_.Value() << ", \"mean_rtt_s\": " << rtt_.Value()
        << ", \"peak_rtt_s\": " << rtt_.Peak() << ", \"mean_queue_bytes\": " << bytes_.Value()
        << ", \"peak_queue_bytes\": " << bytes_.Peak();
  }

 private:
  void Begin() {
    Ptr<Socket> socket = sender_->GetSocket();
    socket->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&Watch::Cwnd, this));
    socket->TraceConnectWithoutContext("RTT", MakeCallback(&Watch::Rtt, this));
    socket->TraceConnectWithoutContext("Tx", MakeCallback(&Watch::Segment, this));
    Simulator::Schedule(kEvery, &Watch::Look, this);
  }

  void Cwnd(uint32_t, uint32_t now) { last_cwnd_ = now; }
  void Rtt(Time, Time now) { last_rtt_ = now; }

  void Segment(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>) {
    if (packet->GetSize() == 0) {
      return;
    }
    const SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
    if (end > highest_) {
      highest_ = end;
    } else {
      ++retransmits_;
    }
  }

  void Look() {
    cwnd_.Add(last_cwnd_);
    rtt_.Add(last_rtt_.GetSeconds());
    bytes_.Add(queue_->GetNBytes());
    Simulator::Schedule(kEvery, &Watch::Look, this);
  }

  Ptr<BulkSendApplication> sender_;
  Ptr<QueueDisc> queue_;
  uint32_t last_cwnd_ = 0;
  Time last_rtt_;
  SequenceNumber32 highest_{0};
  uint64_t retransmits_ = 0;
  Mean cwnd_;
  Mean rtt_;
  Mean bytes_;
};

void StopWhenSpent(double cpu_s) {
  if (static_cast<double>(std::clock()) / CLOCKS_PER_SEC >= cpu_s) {
    Simulator::Stop();
  } else {
    Simulator::Schedule(MilliSeconds(1), &StopWhenSpent, cpu_s);
  }
}

Workload Read(int argc, char* argv[]) {
  Workload work;
  CommandLine command("one TCP flow through one bottleneck");
  command.AddValue("rate", "the bottleneck's, in bit/s", work.rate_bps);
  command.AddValue("rtt", "of the idle path, in seconds", work.rtt_s);
  command.AddValue("seconds", "of traffic", work.seconds);
  command.AddValue("cpu", "seconds of it that may be spent; 0 for no limit", work.cpu_s);
  command.AddValue("burst", "of the token bucket, in bytes", work.burst_bytes);
  command.AddValue("limit", "of the queue, in bytes", work.limit_bytes);
  command.AddValue("red-min", "in bytes; 0 for no RED", work.red_min_bytes);
  command.AddValue("red-max", "in bytes", work.red_max_bytes);
  command.AddValue("red-weight", "of the average, 0 to 1", work.red_weight);
  command.AddValue("send-buffer", "in bytes", work.send_buffer_bytes);
  command.AddValue("receive-buffer", "in bytes", work.receive_buffer_bytes);
  command.AddValue("bottleneck", "the shaped link, 1 or 2", work.bottleneck);
  command.AddValue("shaper", "tbf, or link: the link itself has the rate", work.shaper);
  command.AddValue("hystart", "CUBIC's slow start may end before a loss", work.hystart);
  command.AddValue("watch", "tell of cwnd, RTT and queue too", work.watch);
  command.Parse(argc, argv);
  return work;
}

void SetTcp(const Workload& work) {
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(work.send_buffer_bytes));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(work.receive_buffer_bytes));
  // As in Linux; the default of 1 s would show in what follows a loss.
  Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
  Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(work.hystart));
}

// Adaptive RED with the bounds and the steps of Linux's sch_red; a hard limit, not a gentle one.
ObjectFactory Red(const Workload& work, const QueueSize& limit) {
  ObjectFactory red("ns3::RedQueueDisc");
  red.Set("MaxSize", QueueSizeValue(limit));
  red.Set("MinTh", DoubleValue(work.red_min_bytes));
  red.Set("MaxTh", DoubleValue(work.red_max_bytes));
  red.Set("QW", DoubleValue(work.red_weight));
  red.Set("LInterm", DoubleValue(50));
  red.Set("AdaptMaxP", BooleanValue(true));
  red.Set("Bottom", DoubleValue(0.01));
  red.Set("Gentle", BooleanValue(false));
  red.Set("MeanPktSize", UintegerValue(1500));
  red.Set("LinkBandwidth", DataRateValue(DataRate(work.rate_bps)));
  return red;
}

ObjectFactory Fifo(const QueueSize& limit) {
  ObjectFactory fifo("ns3::FifoQueueDisc");
  fifo.Set("MaxSize", QueueSizeValue(limit));
  return fifo;
}

// Returns the queue disc in which packets wait; it hangs below the shaper, if there is one.
Ptr<QueueDisc> Shape(Ptr<NetDevice> device, const Workload& work) {
  const QueueSize limit(QueueSizeUnit::BYTES, work.limit_bytes);
  const bool red = work.red_max_bytes > 0;
  Ptr<QueueDisc> queue = (red ? Red(work, limit) : Fifo(limit)).Create<QueueDisc>();
  Ptr<QueueDisc> root = queue;
  if (work.shaper == "tbf") {
    Ptr<TbfQueueDisc> bucket = CreateObjectWithAttributes<TbfQueueDisc>(
        "Rate", DataRateValue(DataRate(work.rate_bps)), "Burst", UintegerValue(work.burst_bytes));
    Ptr<QueueDiscClass> below = CreateObject<QueueDiscClass>();
    below->SetQueueDisc(queue);
    bucket->AddQueueDiscClass(below);
    root = bucket;
  }
  root->SetNetDeviceQueueInterface(device->GetObject<NetDeviceQueueInterface>());
  device->GetNode()->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(device, root);
  return queue;
}

}  // namespace

int main(int argc, char* argv[]) {
  const Workload work = Read(argc, argv);
  SetTcp(work);

  NodeContainer nodes(4);
  InternetStackHelper internet;
  internet.SetIpv6StackInstall(false);
  internet.Install(nodes);

  Ptr<QueueDisc> queue;
  Ipv4InterfaceContainer last;
  TrafficControlHelper control;
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
  for (int link = 0; link < 3; ++link) {
    const bool shaped = link == work.bottleneck;
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue(kFast));
    // All of the delay lies between the switches, half of it each way: a link has one delay.
    wire.SetChannelAttribute("Delay", TimeValue(Seconds(link == 1 ? work.rtt_s / 2 : 0)));
    wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(kDeepQueue));
    NetDeviceContainer ends = wire.Install(nodes.Get(link), nodes.Get(link + 1));
    if (shaped) {
      Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(ends.Get(0));
      // Packets are to wait in the queue disc, not in the device below it.
      device->GetQueue()->SetMaxSize(QueueSize("1p"));
      if (work.shaper == "link") {
        device->SetDataRate(DataRate(work.rate_bps));
      }
      queue = Shape(device, work);
    }
    last = addresses.Assign(ends);
    addresses.NewNetwork();
    // Assigning addresses gives each device a queue disc; veth devices have none.
    if (!shaped) {
      control.Uninstall(ends.Get(0));
    }
    control.Uninstall(ends.Get(1));
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();

  PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), kPort));
  Ptr<PacketSink> sink = DynamicCast<PacketSink>(sinks.Install(nodes.Get(3)).Get(0));
  BulkSendHelper senders("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), kPort));
  senders.SetAttribute("SendSize", UintegerValue(kWriteBytes));
  Ptr<BulkSendApplication> sender =
      DynamicCast<BulkSendApplication>(senders.Install(nodes.Get(0)).Get(0));

  std::unique_ptr<Watch> watch;
  if (work.watch) {
    watch = std::make_unique<Watch>(sender, queue);
  }
  if (work.cpu_s > 0) {
    Simulator::Schedule(MilliSeconds(1), &StopWhenSpent, work.cpu_s);
  }
  Simulator::Stop(Seconds(work.seconds));
  Simulator::Run();

  const QueueDisc::Stats& stats = queue->GetStats();
  std::cout << "{\"simulated_s\": " << Simulator::Now().GetSeconds()
            << ", \"received_bytes\": " << sink->GetTotalRx()
            << ", \"sent_packets\": " << stats.nTotalDequeuedPackets
            << ", \"dropped_packets\": " << stats.nTotalDroppedPackets
            << ", \"events\": " << Simulator::GetEventCount();
  if (watch) {
    watch->Print(std::cout);
  }
  std::cout << "}" << std::endl;
  Simulator::Destroy();
  return 0;
}
