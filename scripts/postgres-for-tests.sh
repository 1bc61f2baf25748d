#!/bin/sh
# A private PostgreSQL with pgvector on loopback, for the tests and benchmarks.
#
#   postgres-for-tests.sh start DIR [PORT] [--durable]   prints DATABASE_URL=…; a free port when none is given
#   postgres-for-tests.sh stop DIR
#
# Everything it makes is in DIR: the data, the log, and a copy of PostgreSQL where pgvector has to be compiled into one.
# Without --durable the server does not wait for the disk: fast, and of no use in a test of power loss.
# Exit codes: 0 done, 1 failed, 2 wrong arguments, 3 no PostgreSQL with pgvector can be had on this machine.
set -eu

oldest_version=14
# Debian 12 has no pgvector package, but its archive carries the source of the one in Debian 13.
vector_version=0.8.0
vector_archive=pool/main/p/pgvector/pgvector_$vector_version.orig.tar.gz
vector_digest=867a2c328d4928a5a9d6f052cd3bc78c7d60228a9b914ad32aa3db88e9de27b0

say() { echo "postgres-for-tests: $*" >&2; }
fail() { say "$*"; exit 1; }
wrong_arguments() { say "$*; usage: start DIR [PORT] [--durable] | stop DIR"; exit 2; }
cannot_be_had() { say "$*"; exit 3; }
have() { command -v "$1" >/dev/null 2>&1; }
am_root() { [ "$(id -u)" = 0 ]; }

read_arguments() {
  durable=no port=
  [ $# -ge 2 ] || wrong_arguments 'an action and a directory are needed'
  action=$1
  case $2 in /*) home=$2 ;; *) home=$PWD/$2 ;; esac
  shift 2
  for argument in "$@"; do
    case $argument in
      --durable) durable=yes ;;
      *[!0-9]* | '') wrong_arguments "PORT must be a number, given '$argument'" ;;
      *) port=$argument ;;
    esac
  done
}

# PostgreSQL refuses to run as root.
as_server() { if am_root; then runuser -u postgres -- "$@"; else "$@"; fi; }

# --- which PostgreSQL -------------------------------------------------------------------------------------------------

# Prints the program directory of the newest PostgreSQL that is installed, whoever packaged it.
find_programs() {
  {
    for directory in /usr/lib/postgresql/*/bin /usr/local/pgsql/bin; do
      [ -x "$directory/initdb" ] && [ -x "$directory/postgres" ] && echo "$directory"
    done
    if have pg_config; then
      directory=$(pg_config --bindir)
      [ -x "$directory/initdb" ] && [ -x "$directory/postgres" ] && echo "$directory"
    fi
    :
  } | while read -r directory; do
    echo "$(major_version "$directory") $directory"
  done | sort -n | awk -v oldest="$oldest_version" '$1 >= oldest { newest = $2 } END { if (newest) print newest }'
}

major_version() { "$1/postgres" --version | sed 's/^[^0-9]*\([0-9]*\).*/\1/'; }

has_vector() {
  [ -e "$("$1/pg_config" --sharedir)/extension/vector.control" ] && [ -e "$("$1/pg_config" --pkglibdir)/vector.so" ]
}

install_postgres() {
  am_root || cannot_be_had 'PostgreSQL is not installed, and only root can install it'
  have apt-get || cannot_be_had 'PostgreSQL is not installed, and there is no apt-get to install it with'
  say 'installing PostgreSQL from the package sources of this machine'
  # The package would otherwise start a server of its own, on the standard port and at every boot.
  if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    mkdir -p /etc/postgresql-common
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
  fi
  install_packages postgresql || cannot_be_had 'PostgreSQL could not be installed by apt-get'
}

install_packages() {
  [ -n "${lists_are_fresh-}" ] || apt-get -qq update >&2 || return 1
  lists_are_fresh=yes
  DEBIAN_FRONTEND=noninteractive apt-get -qq install --yes --no-install-recommends "$@" >/dev/null
}

# Sets `programs` to the program directory of a PostgreSQL that has pgvector.
choose_programs() {
  programs=$(find_programs)
  if [ -z "$programs" ]; then
    install_postgres
    programs=$(find_programs)
  fi
  [ -n "$programs" ] || cannot_be_had "no PostgreSQL of version $oldest_version or newer was found"
  version=$(major_version "$programs")
  if has_vector "$programs"; then return; fi
  copy=$home/postgresql-$version
  if [ ! -e "$copy/complete" ] && use_vector_package; then return; fi
  use_private_copy
}

use_vector_package() {
  am_root && have apt-cache || return 1
  apt-cache show "postgresql-$version-pgvector" >/dev/null 2>&1 || return 1
  install_packages "postgresql-$version-pgvector" && has_vector "$programs"
}

# --- pgvector, compiled into a copy of PostgreSQL ---------------------------------------------------------------------

use_private_copy() {
  if [ ! -e "$copy/complete" ]; then
    case $programs in
      /usr/lib/postgresql/*) ;;
      *) cannot_be_had "PostgreSQL in $programs has no pgvector, and only Debian's own layout can be copied to add it" ;;
    esac
    build_private_copy
  fi
  programs=$copy/lib/postgresql/$version/bin
}

build_private_copy() {
  say "compiling pgvector $vector_version for PostgreSQL $version"
  if ! have gcc || [ ! -e /usr/include/stdio.h ]; then
    am_root && have apt-get || cannot_be_had 'pgvector is not installed, and there is no gcc to compile it with'
    install_packages gcc libc6-dev || cannot_be_had 'gcc could not be installed by apt-get'
  fi
  rm -rf "$copy" "$home/build"
  mkdir -p "$home/build" "$copy/lib/postgresql" "$copy/share/postgresql"
  # PostgreSQL looks for its files relative to its program, so a copy of both trees works wherever it is put.
  cp -R "/usr/lib/postgresql/$version" "$copy/lib/postgresql/"
  cp -RL "/usr/share/postgresql/$version" "$copy/share/postgresql/" 2>/dev/null || :
  [ -d "$copy/share/postgresql/$version/extension" ] || fail "/usr/share/postgresql/$version could not be copied"
  fetch_headers
  fetch_vector_source
  compile_vector
  rm -rf "$home/build"
  touch "$copy/complete"
}

# Sets `headers`. Only the headers are wanted of the package, so it is unpacked and not installed.
fetch_headers() {
  headers=/usr/include/postgresql/$version/server
  if [ -e "$headers/postgres.h" ]; then return; fi
  have apt-get && have dpkg-deb || cannot_be_had "there is no pgvector for PostgreSQL $version and no apt-get to fetch its headers with"
  (cd "$home/build" && download_headers) || cannot_be_had "the headers of PostgreSQL $version could not be downloaded by apt-get"
  dpkg-deb --extract "$home"/build/postgresql-server-dev-"$version"_*.deb "$home/build/headers"
  headers=$home/build/headers/usr/include/postgresql/$version/server
}

download_headers() {
  # As root apt-get steps down to a user who may not write here, and warns.
  set -- -qq -o APT::Sandbox::User=root download "postgresql-server-dev-$version"
  apt-get "$@" 2>/dev/null && return
  am_root && apt-get -qq update >&2 && apt-get "$@"
}

fetch_vector_source() {
  for source in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u); do
    if /usr/lib/apt/apt-helper -qq -o APT::Sandbox::User=root download-file \
      "${source%/}/$vector_archive" "$home/build/vector.tar.gz" "SHA256:$vector_digest" >/dev/null 2>&1; then
      tar -xzf "$home/build/vector.tar.gz" -C "$home/build"
      return
    fi
  done
  cannot_be_had "none of this machine's package sources has the source of pgvector $vector_version"
}

compile_vector() {
  cd "$home/build/pgvector-$vector_version"
  library=$copy/lib/postgresql/$version/lib
  extension=$copy/share/postgresql/$version/extension
  # The flags that pgvector's own Makefile uses, less -march=native: the directory may be on a shared disk.
  ls src/*.c | xargs -P "$(nproc)" -I{} gcc -c {} -o {}.o -O2 -fPIC -ftree-vectorize \
    -fassociative-math -fno-signed-zeros -fno-trapping-math -I"$headers" || fail 'pgvector does not compile'
  gcc -shared -o "$library/vector.so" src/*.o -lm || fail 'pgvector does not link'
  cp vector.control sql/vector--*.sql "$extension/"
  cp sql/vector.sql "$extension/vector--$vector_version.sql"
  cd /
}

# --- the server -------------------------------------------------------------------------------------------------------

prepare_home() {
  mkdir -p "$home"
  if am_root; then
    have runuser || cannot_be_had 'there is no runuser to start PostgreSQL with, which refuses to run as root'
  fi
}

prepare_data() {
  data=$home/data-$version
  if am_root; then
    id postgres >/dev/null 2>&1 || cannot_be_had 'there is no user postgres, and PostgreSQL refuses to run as root'
    mkdir -p "$data"
    chown postgres "$data"
    chmod 700 "$data"
    as_server test -w "$data" || cannot_be_had "the user postgres cannot reach $home"
  fi
  [ -e "$data/PG_VERSION" ] ||
    as_server "$programs/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null ||
    fail "initdb failed in $data"
}

is_running() { as_server "$programs/pg_ctl" -D "$data" status >/dev/null 2>&1; }

free_port() {
  node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'
}

start_server() {
  settings="-c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c max_connections=200"
  # pgvector 0.8.0 has a fault in parallel index builds.
  settings="$settings -c max_parallel_maintenance_workers=0"
  [ "$durable" = yes ] || settings="$settings -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
  for attempt in 1 2 3; do
    chosen=${port:-$(free_port)}
    if as_server "$programs/pg_ctl" -D "$data" -s -w -l "$data/server.log" -o "$settings -c port=$chosen" start >/dev/null 2>&1; then
      return
    fi
    # Another process may have taken the free port meanwhile.
    [ -z "$port" ] || break
  done
  tail -n 5 "$data/server.log" >&2 || :
  fail "PostgreSQL does not start (attempt $attempt); $data/server.log says why, and $data may be removed to begin anew"
}

running_port() { sed -n 4p "$data/postmaster.pid"; }

read_arguments "$@"
cd /
case $action in
  start)
    prepare_home
    choose_programs
    prepare_data
    if is_running; then say "already running in $home"; else start_server; fi
    echo "DATABASE_URL=postgres://postgres@127.0.0.1:$(running_port)/postgres"
    ;;
  stop)
    for data in "$home"/data-*; do
      [ -e "$data/postmaster.pid" ] || continue
      # The first line of postmaster.opts is the program that runs there.
      programs=$(dirname "$(sed 's/ .*//' "$data/postmaster.opts")")
      if is_running; then as_server "$programs/pg_ctl" -D "$data" -s -m fast -w stop; fi
    done
    ;;
  *) wrong_arguments "the action must be start or stop, given '$action'" ;;
esac
