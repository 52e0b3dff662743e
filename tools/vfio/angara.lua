-- SPDX-License-Identifier: GPL-2.0-only
--
-- Wireshark: packets of a fabric as "angaractl capture" writes them.
--
--   wireshark -X lua_script:angara.lua FILE
--
-- Frames have link type USER0; Documentation/trace.rst describes them.

local angara = Proto("angara", "Angara packet")

local events = {
	[0] = "INJECT", "SEND", "EJECT", "REDUCE", "RESULT", "CREDIT", "DROP",
}
local types = {
	"PUT", "GET", "ACK", "DATA", "RESULT", "BCAST", "REDUCE", "ALLREDUCE",
	"CREDIT", "ABORT", "SEND", "ATOMIC", "READY", "RNR", "READY_ACK",
	"OPEN", "MGMT",
}
local vcs = { [0] = "REQ", "RSP", "UP", "DOWN" }
local no_port = { [255] = "none" }
local causes = {
	[0] = "no tree", "stale", "partition", "port", "no such context",
	"memory", "order",
}
local SEND, DROP = 1, 6
local VERSION, BYTES = 1, 40

local f = {
	version = ProtoField.uint8("angara.version", "Version of the frame"),
	event = ProtoField.uint8("angara.event", "Event", base.DEC, events),
	type = ProtoField.uint8("angara.type", "Type", base.DEC, types),
	port = ProtoField.uint8("angara.port", "Port", base.DEC, no_port),
	vc = ProtoField.uint8("angara.vc", "Virtual channel", base.DEC, vcs),
	tree = ProtoField.uint8("angara.tree", "TreeId"),
	status = ProtoField.uint8("angara.status", "Status"),
	cause = ProtoField.uint8("angara.cause", "Dropped for", base.DEC, causes),
	npkts = ProtoField.uint16("angara.npkts", "Packets in the train"),
	node = ProtoField.uint32("angara.node", "Node"),
	src = ProtoField.uint32("angara.src", "Injected by node"),
	len = ProtoField.uint32("angara.len", "Payload bytes"),
	seq = ProtoField.uint32("angara.seq", "Number in operation or tree"),
	cycle = ProtoField.uint64("angara.cycle", "Clock of the node"),
}

-- Fields of a frame: offset and length in bytes.
local places = {
	{ f.version, 0, 1 }, { f.event, 1, 1 }, { f.type, 2, 1 },
	{ f.port, 3, 1 }, { f.vc, 4, 1 }, { f.tree, 5, 1 }, { f.npkts, 8, 2 },
	{ f.node, 12, 4 }, { f.src, 16, 4 }, { f.len, 20, 4 },
	{ f.seq, 24, 4 }, { f.cycle, 32, 8 },
}

local all = {}
for _, field in pairs(f) do
	table.insert(all, field)
end
angara.fields = all

local expert = ProtoExpert.new("angara.malformed", "no frame that is known here",
	expert.group.MALFORMED, expert.severity.ERROR)
angara.experts = { expert }

local function info(buf)
	local event, status = buf(1, 1):uint(), buf(6, 1):uint()
	local text = string.format(
		"%s node %d: %s %s from %d, tree %d, seq %d, %d x %d bytes",
		tostring(buf(32, 8):le_uint64()), buf(12, 4):le_uint(),
		events[event] or "?", types[buf(2, 1):uint()] or "?",
		buf(16, 4):le_uint(), buf(5, 1):uint(), buf(24, 4):le_uint(),
		buf(8, 2):le_uint(), buf(20, 4):le_uint())
	if event == SEND then
		text = text .. string.format(", port %d on %s",
			buf(3, 1):uint(), vcs[buf(4, 1):uint()] or "?")
	end
	if status ~= 0 then
		text = text .. string.format(", status %d", status)
	end
	return text
end

function angara.dissector(buf, pinfo, root)
	pinfo.cols.protocol = "ANGARA"
	if buf:len() < BYTES or buf(0, 1):uint() ~= VERSION then
		root:add_proto_expert_info(expert)
		pinfo.cols.info = "no frame that is known here"
		return
	end
	local text = info(buf)
	local tree = root:add(angara, buf(0, BYTES), "Angara: " .. text)
	for _, place in ipairs(places) do
		tree:add_le(place[1], buf(place[2], place[3]))
	end
	if buf(1, 1):uint() == DROP then
		tree:add(f.cause, buf(6, 1))
	else
		tree:add(f.status, buf(6, 1))
	end
	pinfo.cols.src = "node " .. buf(16, 4):le_uint()
	pinfo.cols.dst = "node " .. buf(12, 4):le_uint()
	pinfo.cols.info = text
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, angara)
