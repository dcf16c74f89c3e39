//! Requirements on the encryption of a connection.

/// Requirements on a connection; the default is libpq's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    Disable,
    Allow,
    #[default]
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Mode::Disable => "disable",
            Mode::Allow => "allow",
            Mode::Prefer => "prefer",
            Mode::Require => "require",
            Mode::VerifyCa => "verify-ca",
            Mode::VerifyFull => "verify-full",
        }
    }

    pub(super) fn is_verifying(self) -> bool {
        match self {
            Mode::Disable | Mode::Allow | Mode::Prefer | Mode::Require => false,
            Mode::VerifyCa | Mode::VerifyFull => true,
        }
    }
}
