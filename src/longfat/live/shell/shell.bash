# The shell of a live network. Names that begin with _lf_ are its own; those of
# the network stand before these lines.

unset BASH_ENV HISTFILE
export LONGFAT_NODE

# Run a command at a node; without one, or with `bash` alone, a shell like this.
at() {
  if (($# == 0)); then
    echo 'usage: at NODE [COMMAND...]' >&2
    return 2
  fi
  local node=$1
  shift
  if (($# == 0)) || [[ $# == 1 && $1 == bash ]]; then
    set -- bash --noprofile --rcfile "$_lf_rc" -i
  elif [[ " nodes net dump pingall iperf link losses pause skip pace xterm " == *" $1 "* ]]; then
    "$@" # the session's own commands do not depend on the node
    return
  fi
  if [[ $node == root || " ${_lf_switches[*]} " == *" $node "* ]]; then
    # Process 1 is always in the root's namespaces. Entering them leads to /.
    set -- sh -c 'cd "$1" 2>/dev/null; shift; exec "$@"' sh "$PWD" "$@"
    LONGFAT_NODE=root nsenter -t 1 -n -m -- "$@"
  elif [[ " ${_lf_hosts[*]} " == *" $node "* ]]; then
    LONGFAT_NODE=$node ip netns exec "$node" "$@"
  else
    echo "there is no node $node (there are: root ${_lf_switches[*]} ${_lf_hosts[*]})" >&2
    return 127
  fi
}

# A shell as root is a shell like this, with its commands.
sudo() {
  case $* in
  bash | su | 'su -' | -s | -i) bash --noprofile --rcfile "$_lf_rc" -i ;;
  *) command sudo "$@" ;;
  esac
}

nodes() {
  echo "hosts:    ${_lf_hosts[*]}"
  echo "switches: ${_lf_switches[*]}"
}

# Every link, with its properties as it was built; and whether it is cut now.
net() {
  local a a_name b b_name words cut name state rest
  declare -A down=()
  while read -r name state rest; do
    [[ $state == UP ]] || down[${name%%@*}]=yes
  done < <(at root ip -br link show)
  for rest in "${_lf_links[@]}"; do
    read -r a a_name b b_name words <<<"$rest"
    cut=${down[$a_name]}${down[$b_name]}
    if [[ " ${_lf_hosts[*]} " == *" $a "* && " ${_lf_hosts[*]} " == *" $b "* ]]; then
      [[ $(at "$a" cat "/sys/class/net/$a_name/operstate" 2>&1) == up ]] || cut=yes
    fi
    words=${cut:+(down)}${cut:+${words:+ }}$words
    printf "%-12s ${words:+%-12s }%s\n" "$a_name" "$b_name" ${words:+"$words"}
  done
}

# The addresses of every host's interfaces.
dump() {
  local host name state addresses
  for host in "${_lf_hosts[@]}"; do
    while read -r name state addresses; do
      [[ $name == lo ]] || printf '%-8s %-12s %-8s %s\n' "$host" "${name%%@*}" "$state" "$addresses"
    done < <(ip -n "$host" -br addr show)
  done
}

# Every host with an address pings every other.
pingall() (
  trap 'exit 130' INT
  sent=0 back=0
  for a in "${_lf_called[@]}"; do
    printf '%s ->' "$a"
    for b in "${_lf_called[@]}"; do
      [[ $a == "$b" ]] && continue
      ((++sent))
      if at "$a" ping -q -c 1 -W 5 "$b" >/dev/null 2>&1; then
        ((++back))
        printf ' %s' "$b"
      else
        printf ' X'
      fi
    done
    echo
  done
  echo "$back of $sent pings came back"
  ((back == sent))
)

# iperf CLIENT SERVER [SECONDS]
iperf() (
  if (($# < 2)); then
    echo 'usage: iperf CLIENT SERVER [SECONDS]' >&2
    exit 2
  fi
  at "$2" iperf3 -s -1 -p 5299 >/dev/null &
  trap 'kill $! 2>/dev/null' EXIT
  sleep 0.1
  at "$1" iperf3 -c "$2" -p 5299 -t "${3:-5}"
)

# link NODE NODE up|down
link() {
  local a a_name b b_name words entry found=
  if [[ $# != 3 || ! $3 =~ ^(up|down)$ ]]; then
    echo 'usage: link NODE NODE up|down' >&2
    return 2
  fi
  for entry in "${_lf_links[@]}"; do
    read -r a a_name b b_name words <<<"$entry"
    if [[ "$1 $2" == "$a $b" || "$1 $2" == "$b $a" ]]; then
      found=yes
      at "$a" ip link set dev "$a_name" "$3" && at "$b" ip link set dev "$b_name" "$3" || return
    fi
  done
  if [[ ! $found ]]; then
    echo "there is no link between $1 and $2; net shows the links" >&2
    return 1
  fi
}

# Ask the host, by a note in the terminal's output. A script has no terminal, and full speed.
_lf_ask() {
  { printf '\e]7777;%s\a' "$1" >/dev/tty; } 2>/dev/null
}

# Where packets were lost: the host has the ledger, and answers in the terminal.
losses() {
  if [[ $# -gt 1 || ($# == 1 && $1 != new) ]]; then
    echo 'usage: losses [new], where new are those since they were shown last' >&2
    return 2
  elif [[ $_lf_notes ]]; then
    echo 'the page shows the losses beside the network'
  elif [[ ! -t 1 ]] || ! _lf_ask "losses${1:+ new}"; then
    echo 'losses are shown in a terminal; a program has Network.losses() of Python' >&2
    return 1
  fi
}

# Let virtual time pass, as fast as it can.
pause() {
  _lf_ask skip-own
  sleep "${1:-1}"
}

skip() {
  _lf_ask skip
}

# Show or set how fast virtual time passes while a command runs.
pace() {
  local now=
  if (($# == 0)); then
    read -r now 2>/dev/null <"$_lf_pace_file"
    echo "${now:-see the clock of the page}"
  elif [[ $# == 1 && ($1 == max || ($1 =~ ^[0-9]{1,4}(\.[0-9]{1,4})?$ && $1 =~ [1-9])) ]]; then
    echo "$1" >"$_lf_pace_file"
    _lf_ask "pace $1"
  else
    echo 'usage: pace [FACTOR|max], where FACTOR is virtual seconds in a second, such as 1 or 0.1' >&2
    return 2
  fi
}

xterm() {
  if [[ $_lf_session ]]; then
    echo "type in another terminal: longfat attach $_lf_session ${1:-root}"
  else
    echo 'nobody can attach to this session' >&2
    return 1
  fi
}

help() {
  if (($#)); then
    builtin help "$@"
    return
  fi
  local first=${_lf_hosts[0]:-h1} second=${_lf_hosts[1]:-h2}
  local other=${_lf_switches[0]:-$second}
  local row='  %-20s %s\n'
  printf "$row" "$first ping $second" "run a command at a node; $first alone opens a shell there"
  printf "$row" 'at NODE COMMAND' 'the same, for a node with the name of a command'
  printf "$row" 'nodes, net, dump' 'show the nodes, the links, the addresses'
  printf "$row" 'pingall' 'let every host ping every other'
  printf "$row" "iperf $first $second [10]" "iperf3 from $first to $second, for so many seconds"
  printf "$row" "link $other $first down" 'cut a link; up restores it'
  printf "$row" 'losses, losses new' 'where packets were lost, and why; since the last time'
  printf "$row" 'pause 5' 'let virtual time pass, as fast as it can'
  printf "$row" 'Ctrl-]' 'while a command runs: full speed until one ends; again: stop that'
  printf "$row" 'skip' 'the same, typed in another terminal'
  printf "$row" 'pace 10, pace max' 'how fast time may pass: 10 times real time, as fast as it can'
  printf "$row" "xterm $first" 'how to have a shell in another terminal'
  printf "$row" 'help COMMAND' "bash's own help"
  printf "$row" 'exit, Ctrl-D' 'leave this shell'
  printf "$row" 'Ctrl-\ three times' 'end the session at once (an attached terminal: leave it)'
  echo 'Virtual time stands still while all terminals are at their prompts. While a'
  echo 'command runs in the foreground of one it passes as real time does, or slower.'
}

# Nodes as commands. What bash or Linux has a command for stays what it is.
_lf_hidden=()
for _lf_name in root "${_lf_switches[@]}" "${_lf_hosts[@]}"; do
  if [[ ! $_lf_name =~ ^[A-Za-z0-9][A-Za-z0-9_-]*$ ]] || type "$_lf_name" >/dev/null 2>&1; then
    _lf_hidden+=("$_lf_name")
  else
    eval "$_lf_name() { at $_lf_name \"\$@\"; }"
  fi
done
unset _lf_name

if [[ $- == *i* ]]; then
  # The clock is read by bash itself: no process, and 256 ns of virtual time.
  _lf_prompt() {
    local status=$?
    if [[ $_lf_notes ]]; then
      printf '\e]7777;=%d\a' "$status"
    fi
    local pace=
    read -r pace 2>/dev/null <"$_lf_pace_file"
    case $pace in
      '' | 1) _lf_pace= ;;
      max) _lf_pace='max ' ;;
      *) _lf_pace="x$pace " ;;
    esac
    local now_us=$((${EPOCHREALTIME//[!0-9]/} - _lf_start_s * 1000000))
    printf -v _lf_now '%d.%06d' $((now_us / 1000000)) $((now_us % 1000000))
    _lf_noted= _lf_linted=
  }
  # Once for each line that is typed, before its first command. No process is started.
  _lf_note() {
    if [[ ! $_lf_noted && $BASH_COMMAND != _lf_prompt ]]; then
      _lf_noted=yes
      printf '\e]7777;%s ' "$EPOCHREALTIME"
      HISTTIMEFORMAT= history 1
      printf '\a'
    fi
  }
  # A line with a command that the host checks, before it runs.
  _lf_lint() {
    if [[ ! $_lf_linted && $BASH_COMMAND =~ (^|[\ /])(tc|ip|sysctl)\  ]]; then
      _lf_linted=yes
      printf '\e]7777;lint %s ' "$LONGFAT_NODE"
      HISTTIMEFORMAT= history 1
      printf '\a'
    fi
  }
  trap "${_lf_notes:+_lf_note;} _lf_lint" DEBUG
  PROMPT_COMMAND=_lf_prompt
  PS1='$LONGFAT_NODE $_lf_now s $_lf_pace# '
  [[ $TERM == dumb ]] || PS1='\[\e[1m\]$LONGFAT_NODE\[\e[0m\] $_lf_now s $_lf_pace# '
  complete -c root "${_lf_switches[@]}" "${_lf_hosts[@]}"
  complete -W "root ${_lf_switches[*]} ${_lf_hosts[*]}" at xterm
  complete -W "${_lf_switches[*]} ${_lf_hosts[*]} up down" link
  complete -W "${_lf_hosts[*]}" iperf
  if ((${#_lf_hidden[@]})); then
    echo "These are commands, too; for the nodes, type at NODE: ${_lf_hidden[*]}"
  fi
fi
