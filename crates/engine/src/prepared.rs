//! Prepared statements of a session, by script and index.

/// The prepared statements of a session; `T` is the engine's handle.
#[derive(Debug)]
pub struct PreparedStatements<T> {
    scripts: Vec<Vec<Option<Prepared<T>>>>,
    /// The script whose statements come next.
    script: usize,
}

#[derive(Debug)]
struct Prepared<T> {
    /// To detect another script under the same number.
    text: String,
    statement: T,
}

impl<T> Default for PreparedStatements<T> {
    fn default() -> PreparedStatements<T> {
        PreparedStatements {
            scripts: Vec::new(),
            script: 0,
        }
    }
}

impl<T> PreparedStatements<T> {
    /// Selects the script of the following statements.
    pub fn enter(&mut self, script: usize) {
        self.script = script;
    }

    /// The script whose statements come next.
    pub fn script(&self) -> usize {
        self.script
    }

    /// The statement with this index, if it was prepared for `text`.
    pub fn get(&self, index: usize, text: &str) -> Option<&T> {
        let prepared = self.scripts.get(self.script)?.get(index)?.as_ref()?;
        (prepared.text == text).then_some(&prepared.statement)
    }

    /// Stores the statement with this index; returns the one that it replaces.
    pub fn put(&mut self, index: usize, text: &str, statement: T) -> Option<T> {
        if self.scripts.len() <= self.script {
            self.scripts.resize_with(self.script + 1, Vec::new);
        }
        let script = &mut self.scripts[self.script];
        if script.len() <= index {
            script.resize_with(index + 1, || None);
        }
        let text = text.to_owned();
        let before = script[index].replace(Prepared { text, statement });
        before.map(|before| before.statement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_under_the_same_number_is_another_statement() {
        let mut statements = PreparedStatements::default();
        statements.enter(1);
        assert_eq!(statements.put(2, "SELECT 1", 'a'), None);
        assert_eq!(statements.get(2, "SELECT 1"), Some(&'a'));
        assert_eq!(statements.get(2, "SELECT 2"), None);
        assert_eq!(statements.put(2, "SELECT 2", 'b'), Some('a'));
        assert_eq!(statements.get(2, "SELECT 2"), Some(&'b'));
        statements.enter(0);
        assert_eq!(statements.get(2, "SELECT 2"), None);
    }
}
