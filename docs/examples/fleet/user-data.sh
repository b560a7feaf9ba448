#!/bin/bash
# EC2 user data: makes a box of a fleet out of a fresh machine and, where a run is named, starts it. Amazon Linux 2023,
# Debian 13, or any system that has Node.js 20.19 or later already. Launch as many as the run has writers, all alike.
# User data can be read on the machine by everybody: passwords are in the Parameter Store (ssm:GetParameter).
set -euo pipefail

# The package: what `npm pack` makes, where the boxes can read it (https://, s3:// or a path).
PACKAGE=${PACKAGE:-s3://BUCKET/millrace-0.1.0.tgz}
# Where the boxes meet, and which run this is. Without a run the box is set up and nothing is started.
CONTROL=${CONTROL:-redis://control.internal:6379}
RUN=${RUN:-}
# Typed the same on every box.
OPTIONS=${OPTIONS:---cluster --tls --host clustercfg.items.abc123.euw1.cache.amazonaws.com -q 3000000 -t 8 --warm-up 30s --duration 10m}
# Names in the Parameter Store; empty: there is none.
PASSWORD_PARAMETER=${PASSWORD_PARAMETER:-}
CONTROL_PARAMETER=${CONTROL_PARAMETER:-} # a whole URL with its password, instead of CONTROL
# Where the results go (s3://) when the run is over; then the machine shuts down. Empty: they stay here, and it goes on.
RESULTS=${RESULTS:-}
# Minutes after which the machine shuts down, whatever happens. Empty: it does not.
ENDS_IN=${ENDS_IN:-}

# Elsewhere than on a machine of its own: a folder that stands for /.
ROOT=${ROOT:-}

has_node() {
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null
}
install_node() {
  has_node && return
  if command -v dnf >/dev/null; then
    dnf install -y -q nodejs22 nodejs22-npm
  elif command -v apt-get >/dev/null; then
    apt-get -q -o DPkg::Lock::Timeout=120 update
    DEBIAN_FRONTEND=noninteractive apt-get -qy -o DPkg::Lock::Timeout=120 install --no-install-recommends nodejs npm
  fi
  has_node || { echo "this system has no Node.js 20.19 or later: install one, then run this again" >&2; exit 1; }
}

install_millrace() {
  local work
  work=$(mktemp -d)
  case $PACKAGE in
    s3://*) aws s3 cp --only-show-errors "$PACKAGE" "$work/millrace.tgz" ;;
    http://* | https://*) curl -fsSL --retry 5 -o "$work/millrace.tgz" "$PACKAGE" ;;
    *) cp "$PACKAGE" "$work/millrace.tgz" ;;
  esac
  mkdir -p "$ROOT/opt/millrace"
  npm install --loglevel=error --no-audit --no-fund --prefix "$ROOT/opt/millrace" "$work/millrace.tgz"
  rm -r "$work"
}

parameter() {
  aws ssm get-parameter --with-decryption --name "$1" --query Parameter.Value --output text
}

# For systemd and the shell alike.
quoted() {
  printf '"%s"\n' "$(printf %s "$1" | sed 's/[\\"$`]/\\&/g')"
}

# The secrets are in a file that only root reads; systemd hands them over.
write_settings() {
  mkdir -p "$ROOT/etc/millrace"
  local file="$ROOT/etc/millrace/box.env"
  (umask 077 && : >"$file")
  [ -z "$CONTROL_PARAMETER" ] || CONTROL=$(parameter "$CONTROL_PARAMETER")
  [ -z "$PASSWORD_PARAMETER" ] || echo "REDIS_PASSWORD=$(quoted "$(parameter "$PASSWORD_PARAMETER")")" >>"$file"
  {
    echo "MILLRACE_CONTROL=$(quoted "$CONTROL")"
    echo "MILLRACE_RUN=$(quoted "$RUN")"
    echo "BOX_OPTIONS=$(quoted "$OPTIONS")"
  } >>"$file"
}

# A box that was killed is started again; one that is done, or was refused, hands over what it has and ends.
write_end() {
  local file="$ROOT/opt/millrace/end.sh" unit="$ROOT/etc/systemd/system/millrace-box.service.d"
  cat >"$file" <<END
#!/bin/bash
case \${SERVICE_RESULT:-success} in success | exit-code) ;; *) exit 0 ;; esac
aws s3 cp --only-show-errors --recursive "$ROOT/var/lib/millrace/results" "$RESULTS/\$(hostname)/"
shutdown -h now
END
  chmod 755 "$file"
  mkdir -p "$unit"
  printf '[Service]\nExecStopPost=+/opt/millrace/end.sh\n' >"$unit/end.conf"
}

# First: a box that cannot be set up ends too.
[ -z "$ENDS_IN" ] || shutdown -h "+$ENDS_IN"
install_node
install_millrace
write_settings
[ -n "$ROOT" ] || id millrace >/dev/null 2>&1 || useradd --system --home-dir /var/lib/millrace --shell /usr/sbin/nologin millrace
mkdir -p "$ROOT/etc/systemd/system"
cp "$ROOT/opt/millrace/node_modules/millrace/docs/examples/fleet/millrace-box.service" "$ROOT/etc/systemd/system/"
[ -z "$RESULTS" ] || write_end
if [ -d /run/systemd/system ] && [ -z "$ROOT" ]; then
  systemctl daemon-reload
  [ -z "$RUN" ] || systemctl start --no-block millrace-box
fi
echo "this box is ready${RUN:+, and takes part in $RUN}"
