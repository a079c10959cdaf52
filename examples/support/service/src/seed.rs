//! The data of a new database: the same on every machine and every day.
//!
//! 12 customers, 42 tickets (T-1001 to T-1042) and 66 invoices, six in each month of 2026 from
//! January to November. No clock and no random numbers: who tests against the service may count.

use rusqlite::{Transaction, params};

/// Id, name, e-mail, country, currency, customer since.
const CUSTOMERS: [[&str; 6]; 12] = [
    ["C-001", "Alder & Finch", "office@alderfinch.example", "GB", "GBP", "2021-03-15"],
    ["C-002", "Brasserie Lumen", "compta@lumen.example", "FR", "EUR", "2022-06-01"],
    ["C-003", "Nordwind Logistik", "rechnung@nordwind.example", "DE", "EUR", "2020-11-20"],
    ["C-004", "Tanaka Robotics", "keiri@tanaka.example", "JP", "EUR", "2023-01-09"],
    ["C-005", "Rio Verde Cafés", "financas@rioverde.example", "BR", "USD", "2023-08-30"],
    ["C-006", "Maple Ridge Dental", "billing@mapleridge.example", "CA", "USD", "2019-05-02"],
    ["C-007", "Oliva Studio", "hola@oliva.example", "ES", "EUR", "2024-02-14"],
    ["C-008", "Fjell Outdoor", "faktura@fjell.example", "NO", "EUR", "2022-10-10"],
    ["C-009", "Bright Harbor School", "accounts@brightharbor.example", "US", "USD", "2021-09-01"],
    ["C-010", "Tulip Bikes", "administratie@tulipbikes.example", "NL", "EUR", "2020-04-27"],
    ["C-011", "Delta Print", "amministrazione@deltaprint.example", "IT", "EUR", "2024-07-19"],
    ["C-012", "Harbour Lane Books", "shop@harbourlane.example", "IE", "EUR", "2018-12-03"],
];

const ASSIGNEES: [&str; 5] =
    ["Maria Silva", "Jonas Weber", "Aiko Mori", "Priya Nair", "Tom O'Brien"];

const SUBJECTS: [&str; 14] = [
    "Cannot sign in after the password was changed",
    "Export to CSV stops at 10,000 rows",
    "Please move us to the yearly plan",
    "Webhook is delivered twice",
    "VAT number is missing on the invoice",
    "Dashboard shows yesterday's numbers",
    "Add a second administrator",
    "Emails land in the spam folder",
    "Import fails on umlauts in names",
    "Question about the data centre's location",
    "Mobile app closes when a photo is attached",
    "Delete the data of a former employee",
    "Rate limit reached at night",
    "Report for the auditors",
];

/// The ticket that every example asks for.
const FAMOUS: (&str, &str, &str, &str, &str, &str, &str) = (
    "T-1042",
    "Invoice INV-2026-0014 was charged twice",
    "pending",
    "high",
    "Maria Silva",
    "C-003",
    "2026-11-24T09:12:00Z",
);

const FAMOUS_UPDATES: [(&str, &str, &str); 2] = [
    ("2026-11-24T10:05:00Z", "Maria Silva", "Asked the bank for the two booking references."),
    ("2026-11-26T15:40:00Z", "Nordwind Logistik", "Sent both references and a screenshot."),
];

pub(crate) fn fill(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    customers(transaction)?;
    tickets(transaction)?;
    invoices(transaction)
}

fn customers(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert =
        transaction.prepare("INSERT INTO customers VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for customer in CUSTOMERS {
        insert.execute(customer)?;
    }
    Ok(())
}

fn tickets(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut ticket =
        transaction.prepare("INSERT INTO tickets VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    let mut update = transaction
        .prepare("INSERT INTO notes (ticket, at, author, text) VALUES (?1, ?2, ?3, ?4)")?;
    for n in 0..41_usize {
        let id = format!("T-{}", 1001 + n);
        let status = ["closed", "open", "closed", "pending", "open"][n % 5];
        let priority = ["normal", "low", "normal", "high", "normal", "urgent", "low"][n % 7];
        // An open ticket of every third kind is not yet anybody's.
        let assignee =
            (status != "open" || n % 3 != 0).then_some(ASSIGNEES[(n * 3 + 1) % ASSIGNEES.len()]);
        let customer = CUSTOMERS[(n * 5 + 2) % CUSTOMERS.len()][0];
        let (month, day) = (1 + n / 4, 2 + (n * 11) % 26);
        let created = format!("2026-{month:02}-{day:02}T{:02}:{:02}:00Z", 8 + n % 9, (n * 13) % 60);
        let subject = SUBJECTS[n % SUBJECTS.len()];
        ticket.execute(params![id, subject, status, priority, assignee, customer, created])?;
        if let Some(assignee) = assignee {
            let at = format!("2026-{month:02}-{:02}T16:30:00Z", day + 1);
            let text = match status {
                "closed" => "Solved and confirmed by the customer.",
                "pending" => "Waiting for the customer's answer.",
                _ => "Looking into it.",
            };
            update.execute(params![id, at, assignee, text])?;
        }
    }
    ticket.execute(FAMOUS)?;
    for (at, author, text) in FAMOUS_UPDATES {
        update.execute(params![FAMOUS.0, at, author, text])?;
    }
    Ok(())
}

fn invoices(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert =
        transaction.prepare("INSERT INTO invoices VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
    for n in 1..=66_i64 {
        let month = (n - 1) / 6 + 1;
        let day = [3, 8, 12, 17, 22, 27][usize::try_from((n - 1) % 6).unwrap_or(0)];
        let customer = CUSTOMERS[usize::try_from(n * 7 % 12).unwrap_or(0)];
        let status = match (n * 7 + 3) % 10 {
            0..=4 => "paid",
            5..=7 => "sent",
            8 => "void",
            _ => "draft",
        };
        // Between 40.00 and 5,000.00, every tenth with a zero at the end.
        let cents = 4000 + (n * 48_271 + 12_345) % 496_001;
        let cents = if n % 10 == 4 { cents / 10 * 10 } else { cents };
        // 19 digits, all of them beyond 2^53 and odd, so that a float would change each.
        let ledger_id = 4_611_686_018_427_380_001 + n * 1_000_003 * 2;
        insert.execute(params![
            format!("INV-2026-{n:04}"),
            customer[0],
            format!("2026-{month:02}-{day:02}"),
            status,
            customer[4],
            cents,
            ledger_id
        ])?;
    }
    Ok(())
}
