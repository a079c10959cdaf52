//! Surfaces against their laws, the providers' documented subsets, real tools and reported
//! failures.

mod golden;
mod instances;
mod law;
mod listed;
mod passes;
mod planner;
mod real;
mod report;
mod schemas;
mod subset;
mod support;
