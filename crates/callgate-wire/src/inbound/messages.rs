//! Placeholder.
use super::*;
pub(super) struct Messages;
impl Inbound for Messages {
    fn read(&self, _: &[u8]) -> Result<Received, Misread> {
        Err(Misread::new("this API is not served yet"))
    }
    fn reply(&self, _: &Received, _: &Reply, _: &Stamp) -> Vec<u8> {
        Vec::new()
    }
    fn stream(&self, _: &Received, _: &Stamp) -> Box<dyn StreamWriter> {
        Box::new(W)
    }
    fn refuse(&self, refusal: &Refusal) -> (u16, Vec<u8>) {
        (refusal.kind.status(), Vec::new())
    }
}
struct W;
impl StreamWriter for W {
    fn delta(&mut self, _: &Delta, _: &mut Vec<u8>) {}
    fn call(&mut self, _: &ToolCall, _: &mut Vec<u8>) {}
    fn finish(&mut self, _: &Reply, _: &mut Vec<u8>) {}
    fn fail(&mut self, _: &Refusal, _: &mut Vec<u8>) {}
    fn keep_alive(&mut self, _: &mut Vec<u8>) {}
}
