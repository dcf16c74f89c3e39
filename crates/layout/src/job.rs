//! A plan's trials as jobs of a cluster: a batch script for Slurm, a manifest for Kubernetes.
//!
//! ```text
//! plan file ──► Job ──┬── slurm       an array: tasks of some trials each
//!                     └── kubernetes  an Indexed Job, and the claim for its records
//! ```
//!
//! Every task runs `dbstow trial`, which derives its trials from the task's index and skips those that have a record, so
//! that a task may be repeated at any time.

use askama::Template;
use model::{Bytes, Duration};

use super::quote as filters;

/// Default maximum of tasks per job: Slurm accepts indices below 1001 (MaxArraySize) unless configured otherwise.
///
/// Source: <https://slurm.schedmd.com/slurm.conf.html#OPT_MaxArraySize>, read 2026-11-25.
pub const TASKS_MAX: u32 = 1000;

/// Maximum of tasks per Job in Kubernetes where failures are counted per task.
///
/// Source: <https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/>, `backoffLimitPerIndex`,
/// read 2026-11-25.
pub const KUBERNETES_TASKS_MAX: u32 = 100_000;

/// Default maximum of parallel pods: more would only wait, and each burdens the scheduler.
const PODS: u32 = 100;

/// Largest plan that a ConfigMap holds.
///
/// Source: <https://kubernetes.io/docs/concepts/configuration/configmap/>, read 2026-11-25: 1 MiB, including metadata.
const CONFIG_MAP_MAX: Bytes = Bytes::kib(1000);

/// Length to which a name is cut in names of jobs, which must leave room for a suffix in 63 letters.
const NAME_MAX: usize = 40;

/// Trials of a plan, as tasks.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name of the experiment.
    pub experiment: String,
    /// Digest of the plan.
    pub digest: String,
    /// Number of trials in the plan.
    pub trials: u32,
    /// Trials per task, at least one.
    pub chunk: u32,
    /// The plan file.
    pub plan: String,
    /// The results folder.
    pub results: String,
    /// How tasks invoke the program.
    pub program: String,
    /// Processors per task, and trials that it runs in parallel.
    pub cores: u32,
    /// Memory per task.
    pub memory: Bytes,
    /// How often a task is repeated.
    pub retries: u32,
    /// Time limit of a task.
    pub time_limit: Option<Duration>,
    /// Tasks that run in parallel.
    pub at_once: Option<u32>,
}

/// Options for Kubernetes.
#[derive(Clone, Debug)]
pub struct Pods {
    /// The container image that has the program.
    pub image: String,
    /// Where records are kept.
    pub claim: Claim,
    /// Size of the plan file.
    pub plan_size: Bytes,
}

/// A volume that all pods can write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// An existing one, by its name.
    Existing(String),
    /// One that is created along with the job.
    New {
        /// Its size.
        size: Bytes,
        /// The class of its storage, where it is not the cluster's default.
        class: Option<String>,
    },
}

/// The generated file, and how to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The script or manifest.
    pub text: String,
    /// What must be done before the commands, in a sentence.
    pub preparation: Option<String>,
    /// The commands that submit it, in order.
    pub commands: Vec<String>,
}

impl Job {
    /// Trials per task, so that there are at most [`TASKS_MAX`] tasks.
    pub fn chunk_of(trials: u32) -> u32 {
        trials.div_ceil(TASKS_MAX).max(1)
    }

    /// Number of tasks.
    pub fn tasks(&self) -> u32 {
        self.trials.div_ceil(self.chunk)
    }

    /// The name of the job: letters, digits and `-`.
    pub fn name(&self) -> String {
        let fit = |c: char| match c.is_ascii_alphanumeric() {
            true => c.to_ascii_lowercase(),
            false => '-',
        };
        let name: String = self
            .experiment
            .chars()
            .map(fit)
            .take(NAME_MAX - 16)
            .collect();
        let digest: String = self.digest.chars().take(8).collect();
        format!("dbstow-{}-{digest}", name.trim_matches('-'))
    }

    /// A batch script for an array of tasks; `file` is its future name.
    pub fn slurm(&self, file: &str) -> Submission {
        let script = Slurm {
            job: self,
            file,
            memory_mib: in_mib(self.memory),
            minutes: self.time_limit.map(minutes),
        };
        Submission {
            text: script.render().expect("texts and numbers only") + "\n",
            preparation: None,
            commands: vec![format!("sbatch {}", shell_words::quote(file))],
        }
    }

    /// A manifest of a Job with an index for each task; `file` is its future name.
    pub fn kubernetes(&self, pods: &Pods, file: &str) -> Submission {
        let name = self.name();
        let is_mapped = pods.plan_size <= CONFIG_MAP_MAX;
        let apply = format!("kubectl apply --filename {}", shell_words::quote(file));
        let (commands, preparation) = match is_mapped {
            true => {
                let plan = shell_words::quote(&self.plan);
                let from = format!("--from-file plan.json={plan}");
                let create = format!("kubectl create configmap {name} {from}");
                (vec![create, apply], None)
            }
            // How to copy it there depends on the volume.
            false => {
                let copy = format!(
                    "The plan is too large for a ConfigMap: first copy it to the volume, as plan-{name}.json."
                );
                (vec![apply], Some(copy))
            }
        };
        let manifest = Kubernetes {
            job: self,
            name,
            pods,
            results: format!("/records/{}", self.results.trim_start_matches('/')),
            is_mapped,
            parallelism: self.at_once.unwrap_or(PODS).min(self.tasks()),
            memory_mib: in_mib(self.memory),
            seconds: self
                .time_limit
                .map(|limit| limit.as_nanos().div_ceil(1_000_000_000)),
            commands: &commands,
            preparation: preparation.as_deref(),
        };
        let text = manifest.render().expect("texts and numbers only") + "\n";
        Submission {
            text,
            preparation,
            commands,
        }
    }
}

fn in_mib(memory: Bytes) -> u64 {
    memory.0.div_ceil(1 << 20)
}

/// Slurm counts minutes.
fn minutes(limit: Duration) -> u64 {
    limit.as_nanos().div_ceil(60 * 1_000_000_000).max(1)
}

/// Options on the command line of `sbatch` override those in the script.
///
/// Source: <https://slurm.schedmd.com/sbatch.html>, read 2026-11-25.
#[derive(Template)]
#[template(path = "job/slurm.sh", escape = "none")]
struct Slurm<'a> {
    job: &'a Job,
    file: &'a str,
    memory_mib: u64,
    minutes: Option<u64>,
}

/// Every text is in double quotes with JSON's escapes, which YAML reads identically.
///
/// Source: <https://yaml.org/spec/1.2.2/#13-terminology>, "JSON is a subset", read 2026-11-25.
#[derive(Template)]
#[template(path = "job/kubernetes.yaml", escape = "none")]
struct Kubernetes<'a> {
    job: &'a Job,
    name: String,
    pods: &'a Pods,
    /// The results folder in the container.
    results: String,
    /// Whether the plan is in a ConfigMap, rather than on the volume.
    is_mapped: bool,
    parallelism: u32,
    memory_mib: u64,
    seconds: Option<u64>,
    commands: &'a [String],
    preparation: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job {
            experiment: "mine_2".to_owned(),
            digest: "0123456789abcdef".to_owned(),
            trials: 40,
            chunk: 3,
            plan: "plan.json".to_owned(),
            results: "results".to_owned(),
            program: "dbstow".to_owned(),
            cores: 1,
            memory: Bytes::mib(256),
            retries: 3,
            time_limit: None,
            at_once: None,
        }
    }

    #[test]
    fn a_plan_has_no_more_tasks_than_slurm_takes_by_default() {
        let tasks = |trials: u32| trials.div_ceil(Job::chunk_of(trials));
        assert_eq!(
            [tasks(1), tasks(1000), tasks(1001), tasks(100_000)],
            [1, 1000, 501, 1000]
        );
    }

    #[test]
    fn the_last_task_is_in_the_array() {
        // 40 trials, 3 a task: 14 tasks, the last with one trial.
        let text = job().slurm("job.sh").text;
        assert!(text.contains("#SBATCH --array=0-13\n"), "{text}");
        let few = Job {
            at_once: Some(4),
            time_limit: Some(Duration::from_secs(61)),
            ..job()
        };
        let text = few.slurm("job.sh").text;
        assert!(text.contains("#SBATCH --array=0-13%4\n"), "{text}");
        assert!(text.contains("#SBATCH --time=2\n"), "{text}");
    }

    #[test]
    fn a_plan_that_no_config_map_holds_is_read_from_the_volume_and_has_to_be_copied_there() {
        let of = |plan_size: Bytes| {
            let pods = Pods {
                image: "dbstow:1".to_owned(),
                claim: Claim::Existing("shared".to_owned()),
                plan_size,
            };
            job().kubernetes(&pods, "job.yaml")
        };
        let mapped = of(CONFIG_MAP_MAX);
        assert_eq!((mapped.commands.len(), &mapped.preparation), (2, &None));
        assert!(mapped.text.contains("- \"/plan/plan.json\"\n"));

        let large = of(Bytes(CONFIG_MAP_MAX.0 + 1));
        assert_eq!(large.commands, ["kubectl apply --filename job.yaml"]);
        let name = "plan-dbstow-mine-2-01234567.json";
        let preparation = large.preparation.expect("it has to be copied");
        assert!(preparation.contains(name), "{preparation}");
        assert!(large.text.contains(&format!("# {preparation}\n")));
        assert!(large.text.contains(&format!("- \"/records/{name}\"\n")));
        assert!(!large.text.contains("configMap"));
    }

    #[test]
    fn no_name_leaves_its_place() {
        let hostile = "a\n#SBATCH --uid=0\n'\"$(x)\\";
        let job = Job {
            experiment: hostile.to_owned(),
            plan: hostile.to_owned(),
            results: hostile.to_owned(),
            program: hostile.to_owned(),
            ..job()
        };
        let script = job.slurm(hostile).text;
        // sbatch ignores directives after the first command.
        let mut options = script.lines().take_while(|line| line.starts_with('#'));
        assert!(
            !options.any(|line| line.starts_with("#SBATCH --uid")),
            "{script}"
        );
        assert_eq!(job.name(), "dbstow-a--sbatch---uid-0-----x-01234567");
        let pods = Pods {
            image: hostile.to_owned(),
            claim: Claim::Existing(hostile.to_owned()),
            plan_size: Bytes::kib(1),
        };
        let manifest = job.kubernetes(&pods, hostile).text;
        assert!(
            !manifest.lines().any(|line| line.starts_with("#SBATCH")),
            "{manifest}"
        );
        let quoted = r##"image: "a\u000a#SBATCH --uid=0\u000a'\"$(x)\\""##;
        assert!(manifest.contains(quoted), "{manifest}");
    }
}
