#!/usr/bin/env bash
# A SLURM of one node on loopback, for the tests; needs root.
#   cluster.sh install         Debian packages; run `apt-get update` first
#   cluster.sh start FOLDER    its state, its logs and its process ids are in FOLDER
#   cluster.sh stop FOLDER     stops its jobs and what that start began, and nothing else
set -euo pipefail

CONF=/etc/slurm/slurm.conf # jobs look here: Snakemake's job step drops SLURM_CONF

write_conf() {
    local host
    host=$(hostname -s)
    # The node claims more than the machine has (config_overrides), so that the profile's own requests for memory and GPUs are
    # granted; a job's memory is then watched by what it really uses.
    cat >"$1/etc/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$1/run/munge.socket.2
CredType=cred/munge
SlurmctldPort=16817
SlurmdPort=16818
SlurmctldPidFile=$1/run/slurmctld.pid
SlurmdPidFile=$1/run/slurmd.pid
SlurmctldLogFile=$1/log/slurmctld.log
SlurmdLogFile=$1/log/slurmd.log
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
DebugFlags=NO_CONF_HASH
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$1/log/jobcomp.txt
MinJobAge=300
KillWait=2
CompleteWait=0
InactiveLimit=0
SlurmctldTimeout=30
SlurmdTimeout=60
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=32 RealMemory=1000000 Gres=gpu:a100:4 State=UNKNOWN
PartitionName=cpu Nodes=$host Default=YES MaxTime=INFINITE DefMemPerCPU=500 State=UP
PartitionName=gpu Nodes=$host MaxTime=INFINITE DefMemPerCPU=500 State=UP
CONF
    # A GPU needs a device file of its own, whatever it is.
    for device in 0 1 2 3; do
        ln -sfn /dev/null "$1/run/gpu$device"
    done
    echo "NodeName=$host Name=gpu Type=a100 File=$1/run/gpu[0-3]" >"$1/etc/gres.conf"
}

start() {
    if [ -e $CONF ] || [ -L $CONF ]; then
        echo "$CONF is there already: this machine is part of a cluster, or another test cluster runs" >&2
        exit 1
    fi
    mkdir -p "$1"/{etc,state,spool,log,run}
    chmod 755 "$1" "$1"/*
    write_conf "$1"
    (umask 377 && head -c 1024 /dev/urandom >"$1/etc/munge.key")
    ln -s "$1/etc/slurm.conf" $CONF
    ln -sfn "$1/etc/gres.conf" /etc/slurm/gres.conf
    munged --force --key-file="$1/etc/munge.key" --socket="$1/run/munge.socket.2" --pid-file="$1/run/munged.pid" \
        --log-file="$1/log/munged.log" --seed-file="$1/state/munged.seed"
    slurmctld -f "$1/etc/slurm.conf"
    slurmd -f "$1/etc/slurm.conf"
    for _ in $(seq 600); do
        if [ "$(sinfo --noheader --format=%t --partition=cpu)" = idle ]; then
            return
        fi
        sleep 0.1
    done
    sinfo >&2
    tail "$1"/log/*.log >&2
    stop "$1"
    exit 1
}

stop() {
    if [ "$(readlink $CONF)" = "$1/etc/slurm.conf" ]; then
        for _ in $(seq 100); do
            jobs=$(squeue --noheader --format=%i) || break
            [ -n "$jobs" ] || break
            scancel $jobs
            sleep 0.1
        done
    fi
    for daemon in slurmd slurmctld munged; do
        local file="$1/run/$daemon.pid"
        if [ -e "$file" ]; then
            local pid
            pid=$(cat "$file")
            kill "$pid" 2>/dev/null || true
            for _ in $(seq 100); do
                kill -0 "$pid" 2>/dev/null || break
                sleep 0.1
            done
        fi
    done
    if [ "$(readlink $CONF)" = "$1/etc/slurm.conf" ]; then
        rm $CONF /etc/slurm/gres.conf
    fi
}

case "${1:-}" in
install) DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Options::=--force-confold slurm-wlm munge ;;
start | stop) "$1" "$2" ;;
*)
    sed -n '2,5s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
