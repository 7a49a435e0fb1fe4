#!/bin/bash
# The steps of docker/Dockerfile.
#
#   image.sh packages GROUP…           installs groups of packages.txt
#   image.sh libraries FILE PROGRAM…   writes the Debian packages of the shared libraries that programs are linked with
#   image.sh run FILE                  installs those, and DPDK's drivers
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
source "$root/tools/lib/packages.sh"

libraries() {  # FILE PROGRAM…
  ldd "${@:2}" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | xargs realpath | sort -u |
    xargs dpkg -S | cut -d: -f1 | sort -u >"$1"
}

run_packages() {  # FILE
  local packages
  mapfile -t packages <"$1"
  install_packages run && install_without_services "${packages[@]}"
}

case $1 in
  packages) install_packages "${@:2}" ;;
  libraries) libraries "${@:2}" ;;
  run) run_packages "$2" ;;
esac
