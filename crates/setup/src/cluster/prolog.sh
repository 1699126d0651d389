#!/bin/sh
# Written by `steelyard setup cluster`. Slurm runs this on a machine before a job. If it fails, Slurm
# takes the machine out of service and gives the job to another. To use it again:
#   scontrol update nodename=HOST state=resume
[ "${SLURM_JOB_PARTITION:-@PARTITION@}" = "@PARTITION@" ] || exit 0
# Before the first build is there, nothing can be asked.
[ -x "@STEELYARD@" ] || exit 0
exec @STEELYARD@ doctor --quick > "${STEELYARD_DOCTOR:-/var/log/slurm/doctor.txt}" 2>&1
