"""The sysctls of the network: which each host has of its own, and which are the machine's.

Names are those of the kernels of the tests, 6.1, 6.12 and 7.2; tests/belief/test_lint.py compares
them with /proc/sys. Those of single interfaces (net.ipv4.conf and neigh) are not here.
"""

from __future__ import annotations

from collections.abc import Mapping

_OF_HOSTS = {
    "core": (
        "bypass_prot_mem optmem_max somaxconn tstamp_allow_data txq_reselection_ms txrehash "
        "xfrm_acq_expires xfrm_aevent_etime xfrm_aevent_rseqth xfrm_larval_drop "
    ),
    "ipv4": (
        "fib_multipath_hash_fields fib_multipath_hash_policy fib_multipath_hash_seed "
        "fib_multipath_use_neigh fib_notify_on_flag_change fwmark_reflect icmp_echo_enable_probe "
        "icmp_echo_ignore_all icmp_echo_ignore_broadcasts icmp_errors_extension_mask "
        "icmp_errors_use_inbound_ifaddr icmp_ignore_bogus_error_responses icmp_msgs_burst "
        "icmp_msgs_per_sec icmp_ratelimit icmp_ratemask igmp_link_local_mcast_reports "
        "igmp_max_memberships igmp_max_msf igmp_qrv ip_autobind_reuse ip_default_ttl ip_dynaddr "
        "ip_early_demux ip_forward ip_forward_update_priority ip_forward_use_pmtu "
        "ip_local_port_range ip_local_port_step_width ip_local_reserved_ports ip_no_pmtu_disc "
        "ip_nonlocal_bind ip_unprivileged_port_start ipfrag_high_thresh ipfrag_low_thresh "
        "ipfrag_max_dist ipfrag_time nexthop_compat_mode ping_group_range raw_l3mdev_accept "
        "tcp_abort_on_overflow tcp_adv_win_scale tcp_app_win tcp_autocorking "
        "tcp_backlog_ack_defer tcp_base_mss tcp_challenge_ack_limit tcp_child_ehash_entries "
        "tcp_comp_sack_delay_ns tcp_comp_sack_nr tcp_comp_sack_rtt_percent tcp_comp_sack_slack_ns "
        "tcp_congestion_control tcp_dsack tcp_early_demux tcp_early_retrans tcp_ecn "
        "tcp_ecn_fallback tcp_ecn_option tcp_ecn_option_beacon tcp_fack tcp_fastopen "
        "tcp_fastopen_blackhole_timeout_sec tcp_fastopen_key tcp_fin_timeout tcp_frto "
        "tcp_fwmark_accept tcp_invalid_ratelimit tcp_keepalive_intvl tcp_keepalive_probes "
        "tcp_keepalive_time tcp_l3mdev_accept tcp_limit_output_bytes tcp_max_reordering "
        "tcp_max_syn_backlog tcp_max_tw_buckets tcp_migrate_req tcp_min_rtt_wlen tcp_min_snd_mss "
        "tcp_min_tso_segs tcp_moderate_rcvbuf tcp_mtu_probe_floor tcp_mtu_probing "
        "tcp_no_metrics_save tcp_no_ssthresh_metrics_save tcp_notsent_lowat tcp_orphan_retries "
        "tcp_pacing_ca_ratio tcp_pacing_ss_ratio tcp_pingpong_thresh tcp_plb_cong_thresh "
        "tcp_plb_enabled tcp_plb_idle_rehash_rounds tcp_plb_rehash_rounds tcp_plb_suspend_rto_sec "
        "tcp_probe_interval tcp_probe_threshold tcp_rcvbuf_low_rtt tcp_recovery tcp_reflect_tos "
        "tcp_reordering tcp_retrans_collapse tcp_retries1 tcp_retries2 tcp_rfc1337 tcp_rmem "
        "tcp_rto_max_ms tcp_rto_min_us tcp_sack tcp_shrink_window tcp_slow_start_after_idle "
        "tcp_stdurg tcp_syn_linear_timeouts tcp_syn_retries tcp_synack_retries tcp_syncookies "
        "tcp_thin_linear_timeouts tcp_timestamps tcp_tso_rtt_log tcp_tso_win_divisor tcp_tw_reuse "
        "tcp_tw_reuse_delay tcp_window_scaling tcp_wmem tcp_workaround_signed_windows "
        "udp_child_hash_entries udp_early_demux udp_l3mdev_accept udp_rmem_min udp_wmem_min "
        "xfrm4_gc_thresh "
    ),
    "ipv6": (
        "anycast_src_echo_reply auto_flowlabels bindv6only fib_multipath_hash_fields "
        "fib_multipath_hash_policy fib_notify_on_flag_change flowlabel_consistency "
        "flowlabel_reflect flowlabel_state_ranges fwmark_reflect idgen_delay idgen_retries "
        "ioam6_id ioam6_id_wide ip6frag_high_thresh ip6frag_low_thresh ip6frag_time "
        "ip_nonlocal_bind max_dst_opts_length max_dst_opts_number max_hbh_length "
        "max_hbh_opts_number seg6_flowlabel xfrm6_gc_thresh "
    ),
}
_OF_MACHINE = {
    "core": (
        "busy_poll busy_read default_qdisc dev_weight dev_weight_rx_bias dev_weight_tx_bias "
        "devconf_inherit_init_net fb_tunnels_only_for_init_net gro_normal_batch "
        "high_order_alloc_disable max_skb_frags mem_pcpu_rsv message_burst message_cost "
        "netdev_budget netdev_budget_usecs netdev_max_backlog netdev_rss_key "
        "netdev_tstamp_prequeue netdev_unregister_timeout_secs qdisc_max_burst rmem_default "
        "rmem_max skb_defer_max warnings wmem_default wmem_max "
    ),
    "ipv4": (
        "fib_sync_mem inet_peer_maxttl inet_peer_minttl inet_peer_threshold "
        "ipfrag_secret_interval tcp_allowed_congestion_control tcp_available_congestion_control "
        "tcp_available_ulp tcp_ehash_entries tcp_low_latency tcp_max_orphans tcp_mem "
        "udp_hash_entries udp_mem "
    ),
    "ipv6": ("ip6frag_secret_interval mld_max_msf mld_qrv "),
}


def _names(families: Mapping[str, str]) -> frozenset[str]:
    return frozenset(
        f"net.{family}.{name}" for family, names in families.items() for name in names.split()
    )


OF_HOSTS = _names(_OF_HOSTS)
"""Each host has its own; one at the root is of no effect at hosts."""

OF_MACHINE = _names(_OF_MACHINE)
"""There is one of the machine, which only the root namespace can set."""
