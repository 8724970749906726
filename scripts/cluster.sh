#!/usr/bin/env bash
# A Temporal server on PostgreSQL on this machine, without containers: for tests, and to try what docs/several-machines.md
# says. Teams run their own, or docker-compose.temporal.yml. All of it listens on the loopback only.
#   scripts/cluster.sh start [--servers N] [--port PORT]
#   scripts/cluster.sh stop [--delete]
#   scripts/cluster.sh status
#   scripts/cluster.sh check      says what is missing, and does nothing
#   scripts/cluster.sh run        as start; stops and deletes it when its standard input ends. For programs
# Its folder is HOLDFAST_CLUSTER, at first a new or an empty one: it is deleted whole. The programs are built once, from
# temporal-server/ beside it, into the cache of Holdfast.
# The first server answers on PORT, the next ones on PORT + 20, PORT + 40; by default at the first ports that are free.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${HOLDFAST_CLUSTER:-/var/tmp/holdfast-cluster-$(id -u)}
module=$root/scripts/temporal-server
version=$(sed -n 's/^require go\.temporal\.io\/server v//p' "$module/go.mod")
programs=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/temporal-server-$version
# Each server has eight ports, and PostgreSQL the one after those of the first server.
ports_each=8
database_offset=8
server_step=20
first_port=7400
last_port=9400

say() { echo "$*" >&2; }
fail() {
  say "cluster.sh: $*"
  exit 1
}

# --- programs

find_postgresql() {
  local found
  found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1) || true
  [ -n "$found" ] || found=$(dirname "$(command -v postgres || echo /nowhere/postgres)")
  [ -x "$found/initdb" ] ||
    fail 'PostgreSQL is missing: install it, for example with `apt-get install postgresql`.'
  echo "$found"
}

require_go() {
  [ -x "$programs/temporal-server" ] || command -v go >/dev/null ||
    fail 'Go is missing: it builds the Temporal server. Install Go 1.24 or newer.'
}

build_programs() {
  [ -x "$programs/temporal-server" ] && return
  require_go
  mkdir -p "$(dirname "$programs")"
  exec 9>"$programs.lock"
  flock --nonblock 9 || {
    say 'Another process builds the Temporal server: waiting for it.'
    flock 9
  }
  [ -x "$programs/temporal-server" ] && return
  local partial
  partial=$(mktemp -d "$programs.XXXXXX")
  say "Building the Temporal server $version with Go; the first time takes minutes."
  (
    cd "$module"
    export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off GOTMPDIR=$partial
    go build -v -trimpath -ldflags '-s -w' -o "$partial/" \
      go.temporal.io/server/cmd/server go.temporal.io/server/cmd/tools/sql
  ) 2>&1 | tee "$partial/log" | awk '++n % 100 == 0 { print "Compiled " n " packages"; fflush() }' >&2 || {
    tail -20 "$partial/log" >&2
    rm -rf "$partial"
    fail 'the Temporal server could not be built.'
  }
  mv "$partial/server" "$partial/temporal-server"
  mv "$partial/sql" "$partial/temporal-sql-tool"
  rm -rf "$programs"
  mv "$partial" "$programs"
  exec 9>&-
}

# PostgreSQL refuses to run as root.
as_database_user() {
  if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

# --- processes

is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The first port from which those of all servers are free.
find_port() {
  local first n offset
  for ((first = first_port; first < last_port; first += 100)); do
    for ((n = 0; n < $1; n++)); do
      for ((offset = 0; offset <= database_offset; offset++)); do
        is_free $((first + n * server_step + offset)) || continue 3
      done
    done
    echo "$first" && return
  done
  fail "no free ports from $first_port to $last_port"
}

# The pid that a file records, if that process still runs our program.
running() {
  local pid
  pid=$(cat "$1" 2>/dev/null) || return 1
  [ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = "$(readlink -f "$programs/temporal-server")" ] && echo "$pid"
}

start_database() {
  local bin=$1 port=$2 data=$folder/postgresql/data
  if ! [ -e "$data/PG_VERSION" ]; then
    say "Making a database in $data."
    mkdir -p "$folder/postgresql"
    (umask 077 && tr -dc 'a-z0-9' </dev/urandom | head -c 32 >"$folder/postgresql/password") || true
    [ "$(id -u)" != 0 ] || chown -R postgres: "$folder/postgresql"
    as_database_user "$bin/initdb" -D "$data" -U temporal -A scram-sha-256 -E UTF8 --locale C \
      --pwfile "$folder/postgresql/password" >/dev/null
  fi
  as_database_user "$bin/pg_ctl" -D "$data" status >/dev/null && return
  say "Starting PostgreSQL on port $port."
  as_database_user "$bin/pg_ctl" -D "$data" -w -s -l "$folder/postgresql/log" \
    -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='$folder/postgresql' -c max_connections=300" start ||
    fail "PostgreSQL does not start; see $folder/postgresql/log"
}

prepare_schema() {
  local pair db schema
  export SQL_PLUGIN=postgres12 SQL_HOST=127.0.0.1 SQL_PORT=$1 SQL_USER=temporal SQL_PASSWORD
  SQL_PASSWORD=$(cat "$folder/postgresql/password")
  [ -e "$folder/schema-$version" ] && return
  say 'Bringing the schema of the database to this version.'
  for pair in temporal:temporal temporal_visibility:visibility; do
    db=${pair%%:*} schema=${pair#*:}
    {
      "$programs/temporal-sql-tool" --db "$db" create-database &&
        "$programs/temporal-sql-tool" --db "$db" setup-schema -v 0.0 &&
        "$programs/temporal-sql-tool" --db "$db" update-schema --schema-name "postgresql/v12/$schema"
    } >>"$folder/schema.log" 2>&1 || fail "the schema could not be made; see $folder/schema.log"
  done
  touch "$folder/schema-$version"
}

# A datastore of the server's configuration: name, database, connections.
datastore() {
  cat <<END
    $1:
      sql:
        pluginName: postgres12
        databaseName: $2
        connectAddr: 127.0.0.1:$SQL_PORT
        connectProtocol: tcp
        user: temporal
        password: $SQL_PASSWORD
        maxConns: $3
        maxIdleConns: $3
        maxConnLifetime: 1h
END
}

service() { # name, port
  printf '  %s: { rpc: { grpcPort: %s, membershipPort: %s, bindOnLocalHost: true } }\n' "$1" "$2" "$(($2 + 4))"
}

server_configuration() { # port of this server, port of the first one
  cat <<END
log: { stdout: true, level: warn }
persistence:
  defaultStore: default
  visibilityStore: visibility
  numHistoryShards: 4
  datastores:
END
  datastore default temporal 20
  datastore visibility temporal_visibility 10
  cat <<END
global: { membership: { maxJoinDuration: 30s, broadcastAddress: 127.0.0.1 } }
services:
END
  service frontend "$1"
  service history $(($1 + 1))
  service matching $(($1 + 2))
  service worker $(($1 + 3))
  cat <<END
clusterMetadata:
  enableGlobalNamespace: false
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation:
    active: { enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: 127.0.0.1:$2 }
dcRedirectionPolicy: { policy: noop }
dynamicConfigClient: { filepath: $root/engine/dynamicconfig.yaml, pollInterval: 60s }
publicClient: { hostPort: 127.0.0.1:$1 }
END
}

start_server() { # number, port, port of the first one
  running "$folder/server-$1.pid" >/dev/null && return
  say "Starting Temporal server $1 on port $2."
  (umask 077 && server_configuration "$2" "$3" >"$folder/server-$1.yaml")
  TEMPORAL_VERSION_CHECK_DISABLED=1 setsid "$programs/temporal-server" --config-file "$folder/server-$1.yaml" \
    --allow-no-auth start >>"$folder/server-$1.log" 2>&1 </dev/null 9>&- &
  echo $! >"$folder/server-$1.pid"
}

# --- commands

# Only `start` makes it, and first of all.
has_cluster() { [ -e "$folder/port" ]; }

start() {
  local servers=1 port='' bin n
  while [ $# -gt 0 ]; do
    case $1 in
    --servers) servers=$2 ;;
    --port) port=$2 ;;
    *) fail "unknown option $1" ;;
    esac
    shift 2
  done
  has_cluster || [ -z "$(ls -A "$folder" 2>/dev/null)" ] ||
    fail "$folder has other files in it; name a new or an empty folder in HOLDFAST_CLUSTER"
  bin=$(find_postgresql)
  build_programs
  mkdir -p "$folder"
  [ -O "$folder" ] || fail "$folder belongs to another user; name another folder in HOLDFAST_CLUSTER"
  # The user of the database passes through.
  chmod 711 "$folder"
  # A cluster keeps its ports: its members know each other by them.
  [ -z "$port" ] || echo "$port" >"$folder/port"
  [ -s "$folder/port" ] || find_port "$servers" >"$folder/port"
  port=$(cat "$folder/port")
  start_database "$bin" $((port + database_offset))
  prepare_schema $((port + database_offset))
  # One after the other: on a new database each of them would write what all have in common, and all but the first would end.
  for ((n = 1; n <= servers; n++)); do
    start_server "$n" $((port + (n - 1) * server_step)) "$port"
    "$root/node_modules/.bin/node" "$root/scripts/await-namespace.js" "127.0.0.1:$((port + (n - 1) * server_step))" ||
      fail "Temporal server $n does not answer; see $folder/server-$n.log"
  done
  say 'Ready. For Holdfast:'
  echo "TEMPORAL_ADDRESS=127.0.0.1:$port"
}

stop() {
  local file pid bin
  [ "${1-}" != --delete ] || has_cluster || fail "there is no cluster in $folder: nothing is deleted"
  for file in "$folder"/server-*.pid; do
    pid=$(running "$file") || continue
    say "Stopping the Temporal server with pid $pid."
    kill "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  done
  rm -f "$folder"/server-*.pid
  bin=$(find_postgresql)
  if [ -e "$folder/postgresql/data/postmaster.pid" ]; then
    say 'Stopping PostgreSQL.'
    as_database_user "$bin/pg_ctl" -D "$folder/postgresql/data" -m fast -w -s stop
  fi
  [ "${1-}" != --delete ] || rm -rf "$folder"
}

status() {
  local file port pid code=1
  port=$(cat "$folder/port" 2>/dev/null) || {
    echo "There is no cluster in $folder."
    return 3
  }
  for file in "$folder"/server-*.pid; do
    pid=$(running "$file") || continue
    echo "$(basename "$file" .pid): pid $pid"
    code=0
  done
  [ "$code" = 0 ] && echo "TEMPORAL_ADDRESS=127.0.0.1:$port" || echo "The cluster in $folder is stopped."
  return "$code"
}

check() {
  find_postgresql >/dev/null
  require_go
}

run() {
  ! has_cluster ||
    fail "$folder has a cluster, and run deletes its own at the end; name another folder in HOLDFAST_CLUSTER"
  # What `start` refuses is left as it is.
  trap '! has_cluster || stop --delete' EXIT
  start "$@"
  read -r _ || true
}

command=${1-}
shift || true
case $command in
start | stop | status | check | run) "$command" "$@" ;;
*) fail 'say start, stop, status, check or run; the head of this file explains them.' ;;
esac
