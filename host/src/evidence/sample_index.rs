//! Which samples have which paths.

use std::collections::HashMap;

use serde_json::Value;

/// How many paths are kept apart. A megabyte of samples has fewer, whatever is in it; each takes some 150 bytes, and the
/// text of its last key.
const MAX_PATHS: usize = 200_000;

/// The paths of samples, each with the samples in which it is.
#[derive(Clone, Debug)]
pub(super) struct SampleIndex {
    /// By a path and one more key, the path that they make. Nothing ever goes through it in its order.
    inner: HashMap<(usize, String), usize>,
    /// For each path, the samples that have it, by their places, ascending. The first is the empty one.
    samples: Vec<Vec<usize>>,
    is_full: bool,
}

impl Default for SampleIndex {
    fn default() -> Self {
        Self { inner: HashMap::new(), samples: vec![Vec::new()], is_full: false }
    }
}

impl SampleIndex {
    /// Adds the sample with this place, which comes after all that were added before.
    pub(super) fn add(&mut self, sample: usize, event: &Value) {
        let mut values = vec![(0, event)];
        while let Some((path, value)) = values.pop() {
            if let Some(samples) = self.samples.get_mut(path) {
                samples.push(sample);
            }
            for (key, value) in value.as_object().into_iter().flatten() {
                values.extend(self.enter(path, key).map(|path| (path, value)));
            }
        }
    }

    /// The path with one more key; `None` where it is new and there is no room for it.
    fn enter(&mut self, path: usize, key: &str) -> Option<usize> {
        let step = (path, key.to_owned());
        if let Some(known) = self.inner.get(&step) {
            return Some(*known);
        }
        if self.samples.len() > MAX_PATHS {
            self.is_full = true;
            return None;
        }
        self.inner.insert(step, self.samples.len());
        self.samples.push(Vec::new());
        Some(self.samples.len() - 1)
    }

    /// How many paths are kept apart.
    pub(super) fn paths(&self) -> usize {
        self.samples.len() - 1
    }

    /// The samples that have a path; `None` where that isn't known, because there are more paths than are kept apart.
    pub(super) fn samples(&self, path: &[String]) -> Option<&[usize]> {
        let inner = |path: usize, key: &String| self.inner.get(&(path, key.clone())).copied();
        match path.iter().try_fold(0, inner) {
            Some(path) => self.samples.get(path).map(Vec::as_slice),
            None if self.is_full => None,
            None => Some(&[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{MAX_PATHS, SampleIndex};

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn samples_are_found_by_path() {
        let mut index = SampleIndex::default();
        index.add(0, &json!({"a": {"b": null}}));
        index.add(1, &json!({"a": 1}));
        assert_eq!(index.samples(&[]), Some(&[0, 1][..]));
        assert_eq!(index.samples(&path("a")), Some(&[0, 1][..]));
        assert_eq!(index.samples(&path("a.b")), Some(&[0][..]));
        assert_eq!(index.samples(&path("a.c")), Some(&[][..]));
    }

    #[test]
    fn what_there_is_no_room_for_is_not_known() {
        let fields: Map<String, Value> =
            (0..=MAX_PATHS).map(|it| (format!("k{it:07}"), json!(0))).collect();
        let mut index = SampleIndex::default();
        index.add(0, &json!({"a": 0}));
        index.add(1, &Value::Object(fields));
        let last = format!("k{MAX_PATHS:07}");
        assert_eq!(index.samples(&path("k0000001")), Some(&[1][..]));
        assert_eq!((index.samples(&path(&last)), index.samples(&path("b"))), (None, None));
        index.add(2, &json!({"a": 0}));
        assert_eq!(index.samples(&path("a")), Some(&[0, 2][..]));
    }
}
