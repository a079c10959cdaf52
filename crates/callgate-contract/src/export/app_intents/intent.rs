//! One intent.

use super::{
    AVAILABLE,
    parameter::{self, Parameter, RESERVED, Sent},
};
use crate::{
    Tool,
    export::{
        Losses,
        model::{Kind, Rest, read},
        words::{Given, comment, literal, pascal, title},
    },
    tier::{Tier, TierPolicy},
};

/// Writes a tool's intent, with the enums that it needs before it.
pub(super) fn write(tool: &Tool, given: &mut Given, losses: &mut Losses) -> String {
    let name = given.give(format!("{}Intent", pascal(&tool.name)));
    let model = read(&tool.name, "/input", tool.input.value(), losses);
    let mut idents = Given::without(RESERVED);
    let mut parameters = Vec::new();
    match &parameter::resolved(&model.root, &model).kind {
        Kind::Object(object) => {
            for field in &object.fields {
                let made = parameter::of(tool, &name, field, &model, &mut idents, given, losses);
                parameters.push(made);
            }
            if matches!(object.rest, Rest::Of(_)) {
                let why = "parameters have names: members of other names cannot be given";
                losses.add(&tool.name, "/input", "additionalProperties", why);
            }
        }
        _ => {
            let why = "the arguments are a union, which parameters cannot say: the intent has none";
            losses.add(&tool.name, "/input", "anyOf", why);
        }
    }
    if tool.output.is_some() {
        let why = "an intent returns no structures: the result is its JSON text";
        losses.add(&tool.name, "/output", "output", why);
    }
    let mut out: String = parameters.iter().filter_map(|p| p.declared.as_deref()).collect();
    out.push_str(AVAILABLE);
    out.push_str(&format!("struct {name}: AppIntent {{\n"));
    let shown = title(&tool.name);
    out.push_str(&format!("    static let title: LocalizedStringResource = {}\n", literal(&shown)));
    let about = comment(&tool.description);
    if !about.is_empty() {
        let about = literal(&about);
        out.push_str(&format!("    static let description = IntentDescription({about})\n"));
    }
    out.push_str("    static let openAppWhenRun: Bool = false\n\n");
    for parameter in &parameters {
        let optional = if parameter.optional { "?" } else { "" };
        out.push_str(&format!("    @Parameter({})\n", parameter.says));
        out.push_str(&format!("    var {}: {}{optional}\n\n", parameter.ident, parameter.swift));
    }
    out.push_str(&summary(&shown, &parameters));
    out.push_str("    init() {}\n\n");
    out.push_str(&perform(tool, &parameters));
    out.push_str("}\n\n");
    out
}

/// The sentence that people see: what must be given is in it, the rest below it.
fn summary(shown: &str, parameters: &[Parameter]) -> String {
    let mut sentence = literal(shown);
    sentence.pop();
    let mut below = String::new();
    for parameter in parameters {
        if parameter.optional {
            below.push_str(&format!("            \\.${}\n", parameter.ident));
        } else {
            sentence.push_str(&format!(" \\(\\.${})", parameter.ident));
        }
    }
    sentence.push('"');
    let block = if below.is_empty() { String::new() } else { format!(" {{\n{below}        }}") };
    format!(
        "    static var parameterSummary: some ParameterSummary {{\n        Summary({sentence}){block}\n    }}\n\n"
    )
}

fn perform(tool: &Tool, parameters: &[Parameter]) -> String {
    let mut out = String::from(
        "    func perform() async throws -> some IntentResult & ReturnsValue<String> {\n",
    );
    let asks = !matches!(tool.tier, TierPolicy::Always(Tier::Auto)) || tool.annotations.destructive;
    if asks {
        out.push_str("        try await requestConfirmation()\n");
    }
    let kind = if parameters.is_empty() { "let" } else { "var" };
    out.push_str(&format!("        {kind} arguments = ToolArguments()\n"));
    for parameter in parameters {
        let (ident, wire) = (&parameter.ident, literal(&parameter.wire));
        let value = match parameter.sent {
            Sent::Encoded => ident.clone(),
            Sent::Raw => format!("{ident}.rawValue"),
            Sent::RawJson => format!("json: {ident}.rawValue"),
            Sent::RawList => format!("{ident}.map {{ $0.rawValue }}"),
            Sent::Text => format!("checked: {ident}"),
        };
        let set = format!("try arguments.set({wire}, {value})");
        if !parameter.optional {
            out.push_str(&format!("        {set}\n"));
        } else if parameter.must_be_there {
            out.push_str(&format!(
                "        if let {ident} = {ident} {{\n            {set}\n        }} else {{\n            try arguments.set({wire}, json: \"null\")\n        }}\n"
            ));
        } else {
            out.push_str(&format!(
                "        if let {ident} = {ident} {{\n            {set}\n        }}\n"
            ));
        }
    }
    let name = literal(&tool.name);
    out.push_str(&format!(
        "        return .result(value: try await ToolBridge.shared.call({name}, arguments.json))\n    }}\n"
    ));
    out
}
