/// The arguments of one call, as they are sent: JSON, member by member.
struct ToolArguments {
    private var members: [String] = []

    mutating func set(_ name: String, json: String) throws {
        members.append(try ToolArguments.encode(name) + ":" + json)
    }

    mutating func set<Value: Encodable>(_ name: String, _ value: Value) throws {
        try set(name, json: ToolArguments.encode(value))
    }

    /// JSON text that a person gave: it must be JSON.
    mutating func set(_ name: String, checked text: String) throws {
        let data = Data(text.utf8)
        _ = try JSONSerialization.jsonObject(with: data, options: [.fragmentsAllowed])
        try set(name, json: text)
    }

    var json: String {
        return "{" + members.joined(separator: ",") + "}"
    }

    private static func encode<Value: Encodable>(_ value: Value) throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}

/// Why a call did not reach its tool.
enum ToolBridgeError: Error {
    /// The app has not called `ToolBridge.shared.connect`.
    case notConnected
}

/// The way to Callgate, which the app gives once, when it starts.
actor ToolBridge {
    /// Takes a tool's name and the JSON of its arguments, and gives the JSON of its result.
    typealias Transport = @Sendable (String, String) async throws -> String

    static let shared = ToolBridge()
    private var transport: Transport?

    func connect(_ transport: @escaping Transport) {
        self.transport = transport
    }

    func call(_ name: String, _ arguments: String) async throws -> String {
        guard let transport = transport else { throw ToolBridgeError.notConnected }
        return try await transport(name, arguments)
    }
}
