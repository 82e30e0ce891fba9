# What a container's main process does: bash reads this from its standard input, and then requests, one a line.
# It ends the container after $1 seconds, or when its standard input closes, which the daemon sees to as soon as the
# process that made the container is gone. Until then it answers:
#
#   end TAG   end every process whose RLIMIT_LOCKS is TAG -> how many there were, dead ones not yet buried among them
#   oom       -> how many processes the memory limit has ended so far
#   ping      -> "alive"
#
# Only builtins, no fork: it must still work while a fork bomb holds every process the container may have.

is_tagged() { # PID TAG
    local limits
    { mapfile -t limits <"/proc/$1/limits"; } 2>/dev/null || return 1
    [[ ${limits[*]} =~ "Max file locks "\ *"$2 " ]]
}

end_tagged() { # TAG
    # Stopped first, since a stopped process cannot fork: a pass that finds no new one has found them all.
    local -A stopped=()
    local found=1 folder pid
    while ((found)); do
        found=0
        for folder in /proc/[0-9]*; do
            pid=${folder#/proc/}
            [[ -n ${stopped[$pid]} ]] && continue
            is_tagged "$pid" "$1" && kill -STOP "$pid" && stopped[$pid]=yes && found=1
        done
    done
    ((${#stopped[@]})) && kill -KILL "${!stopped[@]}"
    echo "${#stopped[@]}"
}

count_oom_kills() {
    local file key value
    for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
        [[ -r $file ]] || continue
        while read -r key value; do
            [[ $key == oom_kill ]] && echo "$value" && return
        done <"$file"
    done
    echo "no counter"
}

answer_for() { # SECONDS
    local request tag
    while ((SECONDS < $1)) && read -r -t $(($1 - SECONDS)) request tag; do
        case $request in
        end) end_tagged "$tag" 2>/dev/null ;;
        oom) count_oom_kills ;;
        ping) echo alive ;;
        esac
    done
}

answer_for "$1"; exit
