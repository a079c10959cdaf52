//! Moments at which a process is killed.

use std::fmt;

/// A moment in a run's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// The run was asked for; nothing else is known.
    Submitted,
    /// A request to the model, by its hop.
    Model(u32, Stage),
    /// A call of a tool: its name, and which of those that are called more than once.
    Tool(&'static str, &'static str, Stage),
    /// A person is asked for approval, and has not answered.
    Asked,
    /// Their answer was taken.
    Decided,
    /// The run waits for nothing but the timer.
    Lapsing,
}

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// It has come; its effect has not happened.
    Come,
    /// Its effect has happened; the answer is not out.
    Done,
    /// The answer is out.
    Answered,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submitted => f.write_str("submitted"),
            Self::Model(hop, stage) => write!(f, "model {hop} {stage}"),
            Self::Tool(tool, "", stage) => write!(f, "{tool} {stage}"),
            Self::Tool(tool, which, stage) => write!(f, "{tool} {which} {stage}"),
            Self::Asked => f.write_str("approval asked"),
            Self::Decided => f.write_str("approval decided"),
            Self::Lapsing => f.write_str("timer running"),
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Come => "come",
            Self::Done => "done",
            Self::Answered => "answered",
        })
    }
}

const CALLS: [(&str, &str); 5] = [
    ("read_stock", "nuts"),
    ("read_stock", "bolts"),
    ("add_note", ""),
    ("place_order", ""),
    ("send_refund", ""),
];

/// Every point of the scenario, in the order in which a run that nobody kills comes by them.
pub const POINTS: [Point; 28] = points();

const fn points() -> [Point; 28] {
    const STAGES: [Stage; 3] = [Stage::Come, Stage::Done, Stage::Answered];
    let mut all = [Point::Submitted; 28];
    let mut at = 1;
    let mut hop = 1;
    while hop <= 3 {
        let mut stage = 0;
        while stage < 3 {
            all[at] = Point::Model(hop, STAGES[stage]);
            at += 1;
            stage += 1;
        }
        hop += 1;
    }
    let mut call = 0;
    while call < CALLS.len() {
        let mut stage = 0;
        while stage < 3 {
            all[at] = Point::Tool(CALLS[call].0, CALLS[call].1, STAGES[stage]);
            at += 1;
            stage += 1;
        }
        call += 1;
    }
    all[at] = Point::Asked;
    all[at + 1] = Point::Decided;
    all[at + 2] = Point::Lapsing;
    all
}
