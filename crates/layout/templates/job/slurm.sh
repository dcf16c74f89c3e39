#!/bin/sh
# {{ job.trials }} trials of {{ job.experiment|line }}, plan {{ job.digest|line }}, in {{ job.tasks() }} tasks. Submit it with:
#   sbatch {{ file|sh|line }}
# Options of sbatch on the command line, such as --partition, take the place of those below.
#SBATCH --job-name={{ job.name() }}
#SBATCH --array=0-{{ job.tasks() - 1 }}{% if let Some(at_once) = job.at_once %}%{{ at_once }}{% endif %}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={{ job.cores }}
#SBATCH --mem={{ memory_mib }}M
{% if let Some(minutes) = minutes %}#SBATCH --time={{ minutes }}
{% endif %}#SBATCH --requeue
#SBATCH --open-mode=append

# A task ended by scancel or a limit is not requeued.
trap 'exit 143' TERM
code=0
{{ job.program|sh }} trial {{ job.plan|sh }} --chunk {{ job.chunk }} --jobs {{ job.cores }} --out {{ job.results|sh }} || code=$?

# What has a record is not run again. A mistake (exit code 2) would be one again; anything else is tried anew.
if [ "$code" -ne 0 ] && [ "$code" -ne 2 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt {{ job.retries }} ]; then
    echo "exit code $code: task $SLURM_ARRAY_TASK_ID is requeued" >&2
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit "$code"
