//! Published ladders of latency. They disagree by more than a hundredfold, so none applies unless it is selected by name.

/// Author of a ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Microsoft's page on slow I/O.
    Microsoft,
    /// Test-DbaDiskSpeed of dbatools.
    Dbatools,
    /// The First Responder Kit.
    FirstResponderKit,
    /// Azure's I/O performance analysis.
    Azure,
}

impl Profile {
    /// All of them.
    pub const ALL: [Profile; 4] = [
        Profile::Microsoft,
        Profile::Dbatools,
        Profile::FirstResponderKit,
        Profile::Azure,
    ];

    /// Its name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Microsoft => "microsoft",
            Profile::Dbatools => "dbatools",
            Profile::FirstResponderKit => "first-responder-kit",
            Profile::Azure => "azure",
        }
    }
    /// Whose it is, and from which latency on it finds something.
    pub fn about(self) -> &'static str {
        match self {
            Profile::Microsoft => "Microsoft's page on slow I/O: from 16 ms on",
            Profile::Dbatools => "dbatools' Test-DbaDiskSpeed: from 20 ms on",
            Profile::FirstResponderKit => "First Responder Kit: from 100 ms on",
            Profile::Azure => "Azure's I/O performance analysis: from 500 ms on",
        }
    }
}
