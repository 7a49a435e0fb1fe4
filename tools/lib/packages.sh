# Sourced. Installs the packages of groups of tools/packages.txt; does nothing when all are there.

packages_of() {  # GROUP…
  local group
  for group; do awk -v group="$group" '$1 == group { print $2 }' "$root/tools/packages.txt"; done
}

missing_packages() {  # PACKAGE…
  local package
  for package; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

# A package's service must not start: servers run in the namespaces of tests only.
install_without_services() {  # PACKAGE…
  local policy=/usr/sbin/policy-rc.d made=""
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"
    made=yes
  fi
  local status=0
  apt-get install -y -q --no-install-recommends "$@" </dev/null || status=$?
  [[ -z $made ]] || rm -f "$policy"
  return $status
}

install_packages() {  # GROUP…
  local wanted missing
  mapfile -t wanted < <(packages_of "$@")
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  ((${#missing[@]})) || return 0
  echo "installing ${missing[*]}"
  if ((EUID != 0)); then
    echo "installing packages needs root: sudo $0 $*" >&2
    return 1
  fi
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q || return
  install_without_services "${missing[@]}" || return
  if [[ " ${missing[*]} " == *" nginx "* && -d /run/systemd/system ]]; then
    systemctl disable --quiet nginx  # not at the next boot either
  fi
}
