#!/bin/sh
# Makes a fresh Debian or Ubuntu machine ready: system packages, the virtual
# environment .venv, and the list of kernels to use in .venv/kernels; `longfat
# kernel build` finds their sources, or takes those that stand as wheels in dist/.
# What is there already is left as it is, so a second call does nothing.
#
#   tools/setup.sh lab|studio|test
set -eu
cd "$(dirname "$0")/.."
purpose=${1:?lab, studio or test}
say() { printf '%s\n' "$*" >&2; }

# Each program and the package that has it. A user's PATH may lack sbin.
programs=bwrap:bubblewrap
compilers='gcc:gcc make:make flex:flex bison:bison bc:bc xz:xz-utils patch:patch'
kernels=6.1
if [ "$purpose" != lab ]; then # to build the studio's page
    programs="$programs node:nodejs npm:npm"
fi
if [ "$purpose" = test ]; then
    # ccache, since one of the kernels is a variant of another.
    programs="$programs ccache:ccache strace:strace gpg:gpg gpg-agent:gpg-agent ethtool:ethtool mn:mininet
 wg:wireguard-tools nft:nftables ip:iproute2 iperf3:iperf3 ping:iputils-ping sysctl:procps
 tcpdump:tcpdump less:less curl:curl pdftotext:poppler-utils
 ovs-vswitchd:openvswitch-switch ovs-testcontroller:openvswitch-testcontroller brctl:bridge-utils tshark:tshark"
    # Of each series, the build takes the release in kernel/tested if it can be had.
    kernels=$(sed 's/\.[0-9]*$//' kernel/tested; cat kernel/variants/tested)
fi

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

updated=
update_packages() {
    [ -n "$updated" ] || as_root apt-get update -q >&2
    updated=yes
}

install_packages() { # PACKAGE...
    say "installing by the package manager (as root): $*"
    update_packages
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

find_python() {
    for python in python3.13 python3.12 python3.11 python3; do
        for folder in /usr/bin /usr/local/bin; do
            if "$folder/$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' \
                2>/dev/null; then
                echo "$folder/$python"
                return
            fi
        done
    done
}

find_library() { # FILE: is it where the package manager puts libraries?
    for file in /usr/lib/"$1" /usr/lib/*/"$1"; do
        [ -e "$file" ] && return
    done
    return 1
}

lacking() { # PROGRAM:PACKAGE...
    for pair in "$@"; do
        PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null || printf ' %s' "${pair##*:}"
    done
}

# shellcheck disable=SC2086  # one word a program
missing=$(lacking $programs)
# The report's PDF needs these libraries and a font.
for name in pango pangoft2; do
    find_library "lib$name-1.0.so.0" || missing="$missing lib$name-1.0-0"
done
[ -e /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf ] || missing="$missing fonts-dejavu-core"
# The tests want a browser, too. Ubuntu has Chromium as a snap only: there it is Playwright's.
lacks_browser=
shell=chromium-headless-shell
if [ "$purpose" = test ] && ! command -v $shell >/dev/null && [ ! -e .venv/browser ]; then
    update_packages
    if apt-cache show $shell >/dev/null 2>&1; then missing="$missing $shell"; else lacks_browser=yes; fi
fi
# shellcheck disable=SC2086  # one word a package
[ -z "$missing" ] || install_packages $missing

if [ ! -x .venv/bin/python ]; then
    python=$(find_python)
    if [ -z "$python" ]; then
        install_packages python3 python3-venv
        python=$(find_python)
    fi
    if [ -z "$python" ]; then
        install_packages python3.11 python3.11-venv
        python=$(find_python)
    fi
    [ -n "$python" ] || { say 'no Python 3.11 or later with venv can be found'; exit 3; }
    "$python" -m venv .venv
fi

lock=requirements-$purpose.lock
[ "$purpose" = test ] && lock=requirements-dev.lock
stamp=.venv/installed-$lock
if ! cmp -s "$lock" "$stamp"; then
    say "installing Python packages from $lock"
    .venv/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r "$lock"
    cp "$lock" "$stamp"
fi
# Its metadata names longfat's script and products.
stamp=.venv/installed-pyproject.toml
if ! cmp -s pyproject.toml "$stamp"; then
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
    cp pyproject.toml "$stamp"
fi

if [ -n "$lacks_browser" ]; then
    say "installing Playwright's browser (as root: the libraries that it needs)"
    .venv/bin/playwright install --with-deps --only-shell chromium >&2
    touch .venv/browser
fi

# A prebuilt kernel spares its build, and the programs for that; the tests build.
ready() { # KERNEL FROM: is there one that fits today's recipe?
    .venv/bin/longfat kernel list 2>/dev/null | grep -q "^$1\..* ready .*$2"
}
prebuilt() {
    [ "$purpose" != test ] || return 1
    for kernel in $kernels; do
        ready "$kernel" longfat-kernel- || return 1
    done
}

for kernel in $kernels; do
    wheel=$(find dist -name "longfat_kernel_$(echo "$kernel" | tr . _)-*.whl" 2>/dev/null | head -n 1)
    if [ "$purpose" != test ] && [ -n "$wheel" ] && ! ready "$kernel" ''; then
        say "installing $wheel"
        .venv/bin/python -m pip install -q --disable-pip-version-check --no-index --no-deps "$wheel"
    fi
done
# shellcheck disable=SC2086  # one word a program
missing=$(lacking $compilers)
[ -e /usr/include/stdio.h ] || missing="$missing libc6-dev"
# shellcheck disable=SC2086  # one word a package
[ -z "$missing" ] || prebuilt || install_packages $missing

# shellcheck disable=SC2086  # one word a version
printf '%s\n' $kernels >.venv/kernels
