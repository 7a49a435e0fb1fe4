# Sourced. Build folders: build/ release, build-asan/ and build-tsan/ with sanitizers.

build_options() {  # release|asan|tsan
  case $1 in
    release) echo --buildtype=release ;;
    # Optimised little and with line numbers alone: these two builds cost most of the time.
    asan) echo --buildtype=plain -Doptimization=1 -Dcpp_args=-g1 -Db_sanitize=address,undefined ;;
    tsan) echo --buildtype=plain -Doptimization=1 -Dcpp_args=-g1 -Db_sanitize=thread ;;
  esac
}

build_folder() {  # release|asan|tsan
  [[ $1 == release ]] && echo "$root/build" || echo "$root/build-$1"
}

configure() {  # release|asan|tsan
  local folder
  folder=$(build_folder "$1")
  [[ -e $folder/build.ninja ]] || meson setup "$folder" "$root" $(build_options "$1")
}

build() {  # release|asan|tsan [TARGET…]
  local kind=$1
  shift
  configure "$kind" && ninja -C "$(build_folder "$kind")" -j "$(nproc)" "$@"
}
