//! Real tools: every one projects on every surface to what its provider admits, and its arguments
//! come back.

use callgate_contract::{
    schema::Schema,
    surface::{Options, Surface},
};

use crate::{
    law::{Tally, check, told_in_full},
    support::{real_tools, tool},
};

#[test]
fn real_tools_project_everywhere_and_come_back() {
    let Some(tools) = real_tools() else { return };
    let mut failures = Vec::new();
    for surface in Surface::ALL {
        let (mut tally, mut fell_back, mut losses) = (Tally::default(), 0, 0);
        for real in &tools {
            let contract = Schema::compile(real.input.clone()).expect("a real schema compiles");
            let tool = tool(&real.name, &real.input);
            for (seed, maps_as_pairs) in [(1, false), (2, true)] {
                let options = Options { maps_as_pairs, ..Options::default() };
                match check(&contract, &*tool, surface, options, seed, &mut tally) {
                    Ok(projection) if !maps_as_pairs => {
                        if let Err(why) = told_in_full(&contract, &projection) {
                            failures
                                .push(format!("{}/{} on {surface} {why}", real.server, real.name));
                        }
                        fell_back += usize::from(projection.fell_back.is_some());
                        losses += projection.losses.len();
                    }
                    Ok(_) => {}
                    Err(why) => {
                        failures.push(format!("{}/{} on {surface}: {why}", real.server, real.name));
                    }
                }
            }
        }
        println!(
            "{surface}: {} tools, {fell_back} fell back, {losses} losses, {tally:?}",
            tools.len()
        );
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
    assert!(tools.len() >= 166, "{} tools", tools.len());
}
