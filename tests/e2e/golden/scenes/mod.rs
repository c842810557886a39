//! The scenes: turns, tools, several models, and conversations that go on from somewhere else.

mod several;
mod tools;
mod turns;

/// No planner.
const OFF: &str = "planner = \"off\"";

/// The model's own tools.
const NATIVE: &str = "planner = \"native\"";
