//! Sources of the rules. The pages change: each has the date it was read.

use rules::Source;

const fn source(name: &'static str, url: &'static str) -> Source {
    Source {
        name,
        url,
        read: "2026-11-25",
    }
}

pub(super) const AWS_INSTANCE_STORE: Source = Source {
    name: "AWS, data persistence for instance store volumes",
    url: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-store-lifetime.html",
    read: "2026-11-26",
};
pub(super) const AWS_TORN_WRITES: Source = source(
    "AWS, requirements for using torn write prevention",
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/twp-reqs.html",
);
pub(super) const AZURE_DISK_PERFORMANCE: Source = Source {
    name: "Microsoft, virtual machine and disk performance: with a read-write cache a flush is forced by fsync or FUA",
    url: "https://learn.microsoft.com/azure/virtual-machines/disks-performance",
    read: "2026-11-27",
};
pub(super) const DOCKER_DRIVERS: Source = source(
    "Docker, storage drivers",
    "https://docs.docker.com/engine/storage/drivers/",
);
pub(super) const EXT4_ATOMIC: Source = source(
    "Linux, ext4: atomic block writes",
    "https://docs.kernel.org/filesystems/ext4/atomic_writes.html",
);
pub(super) const MARIADB_BINLOG: Source = source(
    "MariaDB, using and maintaining the binary log",
    "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/using-and-maintaining-the-binary-log",
);
pub(super) const MARIADB_DIRECT: Source = source(
    "MariaDB, MDEV-24854: innodb_flush_method=O_DIRECT by default",
    "https://github.com/MariaDB/server/commit/420f8e24ab",
);
pub(super) const MARIADB_DOUBLEWRITE: Source = source(
    "MariaDB, InnoDB doublewrite buffer",
    "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-doublewrite-buffer",
);
pub(super) const MARIADB_FLUSH_METHOD: Source = source(
    "MariaDB, InnoDB flush method",
    "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-flush-method",
);
pub(super) const MARIADB_GROUP_COMMIT: Source = source(
    "MariaDB, group commit for the binary log",
    "https://mariadb.com/docs/server/server-management/server-monitoring-logs/binary-log/group-commit-for-the-binary-log",
);
pub(super) const MARIADB_NEIGHBORS: Source = source(
    "MariaDB, MDEV-17380: innodb_flush_neighbors=ON should be ignored on SSD",
    "https://github.com/MariaDB/server/commit/10dd290b4b8b8b235c8cf42e100f0a4415629e79",
);
pub(super) const MARIADB_TEMP_LIMITS: Source = source(
    "MariaDB, limiting size of created disk temporary files and tables",
    "https://mariadb.com/docs/server/security/limiting-size-of-created-disk-temporary-files-and-tables",
);
pub(super) const MARIADB_TEMP_TABLESPACE: Source = source(
    "MariaDB, InnoDB temporary tablespaces",
    "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-tablespaces/innodb-temporary-tablespaces",
);
pub(super) const MARIADB_UNDO: Source = source(
    "MariaDB, InnoDB undo log",
    "https://mariadb.com/kb/en/innodb-undo-log/",
);
pub(super) const MARIADB_VARIABLES: Source = source(
    "MariaDB, InnoDB system variables",
    "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/innodb-system-variables",
);
pub(super) const MYSQL_CAPACITY: Source = source(
    "MySQL 8.4, configuring InnoDB I/O capacity",
    "https://dev.mysql.com/doc/refman/8.4/en/innodb-configuring-io-capacity.html",
);
pub(super) const MYSQL_DIRECTORIES: Source = source(
    "MySQL 8.4, setting up multiple data directories",
    "https://dev.mysql.com/doc/refman/8.4/en/multiple-data-directories.html",
);
pub(super) const MYSQL_DISK: Source = source(
    "MySQL 8.4, optimizing InnoDB disk I/O",
    "https://dev.mysql.com/doc/refman/8.4/en/optimizing-innodb-diskio.html",
);
pub(super) const MYSQL_NEIGHBORS: Source = source(
    "MySQL, WL#9631: change InnoDB I/O defaults, innodb_flush_neighbors",
    "https://dev.mysql.com/worklog/task/?id=9631",
);
pub(super) const MYSQL_TEMPORARY_FILES: Source = source(
    "MySQL 8.4, where MySQL stores temporary files",
    "https://dev.mysql.com/doc/refman/8.4/en/temporary-files.html",
);
pub(super) const MYSQLTUNER: Source =
    source("MySQLTuner", "https://github.com/major/MySQLTuner-perl");
pub(super) const OPENZFS: Source = source(
    "OpenZFS, workload tuning: InnoDB",
    "https://openzfs.github.io/openzfs-docs/Performance%20and%20Tuning/Workload%20Tuning.html#innodb",
);
pub(super) const PERCONA_REDO: Source = source(
    "Percona, how to calculate a good InnoDB log file size (2008)",
    "https://www.percona.com/blog/2008/11/21/how-to-calculate-a-good-innodb-log-file-size/",
);
