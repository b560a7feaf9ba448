#!/bin/sh
# Ends embedded servers and removes their folder when standard input closes: the other end belongs to the
# program that started them, so this happens however that program ends, kill -9 included.
# Usage: watchdog.sh FOLDER; then lines on standard input: 'pid NUMBER', 'state FILE'.

folder=$1
case $folder in */millrace-servers-*) ;; *) exit 2 ;; esac
trap '' HUP INT TERM

pids=
state=
while read -r word rest; do
  case $word in
    pid) pids="$pids $rest" ;;
    state) state=$rest ;;
  esac
done

# Servers that joined later, whichever program started them.
if [ -r "$folder/pids" ]; then
  while read -r late; do pids="$pids $late"; done <"$folder/pids"
fi

# True while the number still belongs to a server of ours: its configuration file stands in its command line.
ours() {
  if [ -r "/proc/$1/cmdline" ]; then
    command_line=$(tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline")
  elif [ -d /proc/self ]; then
    return 1
  else
    command_line=$(ps -o command= -p "$1" 2>/dev/null)
  fi
  case $command_line in *"$folder/"*) return 0 ;; esac
  return 1
}

# Where the folder really is, as /proc shows it.
real=$(cd "$folder" 2>/dev/null && pwd -P)

# Nothing is stored on disk, so there is nothing that a gentler signal could save.
for pid in $pids; do ours "$pid" && kill -9 "$pid"; done
for pid in $pids; do
  while ours "$pid"; do sleep 0.02; done
done

# Another program may have published its own servers in the meantime.
if [ -n "$state" ] && grep -qF "\"$folder\"" "$state" 2>/dev/null; then rm -f "$state"; fi
rm -rf "$folder"

# A program that is killed while it starts a server has not told its number. One that starts from now on finds no
# configuration and ends by itself; one that has read it stands in the folder that is gone.
[ -n "$real" ] && [ -d /proc/self ] || exit 0
for file in $(grep -slF "$folder/" /proc/[0-9]*/cmdline); do
  pid=${file#/proc/}
  pid=${pid%/cmdline}
  case $(readlink "/proc/$pid/cwd") in "$real"/*) kill -9 "$pid" ;; esac
done
