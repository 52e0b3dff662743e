// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Registers, the admin queue and the asynchronous event queue.
 *
 * Any thread may write registers at any time.  A write only stores the value;
 * the view that holds the node acts on the value later.
 */
#include "ang_int.h"

static u32 reg_get(struct ang_node *n, u32 off)
{
	return READ_ONCE(n->reg[off / 4]);
}

static u64 reg_get64(struct ang_node *n, u32 off)
{
	return reg_get(n, off) | (u64)reg_get(n, off + 4) << 32;
}

static u32 reg_status(struct ang_node *n)
{
	if (!ang_load_acquire(&n->enabled))
		return 0;
	return READ_ONCE(n->adm.fatal) ?
	       ANGARA_STATUS_READY | ANGARA_STATUS_FATAL : ANGARA_STATUS_READY;
}

u32 ang_reg_read(struct ang_view *v, u32 node, u32 off)
{
	struct ang_fabric *fab = v->fab;
	struct ang_node *n;

	if (node >= v->topo.nodes || off % 4)
		return ~0U;
	n = ang_node(fab, node);
	switch (off) {
	case ANGARA_REG_MAGIC:
		return ANGARA_HW_MAGIC;
	case ANGARA_REG_VERSION:
		return ANGARA_HW_VERSION;
	case ANGARA_REG_STATUS:
		return reg_status(n);
	case ANGARA_REG_NODE:
		return node;
	case ANGARA_REG_NODES:
		return v->topo.nodes;
	case ANGARA_REG_PORTS:
		return ang_topo_ports(&v->topo);
	case ANGARA_REG_CONTEXTS:
		return fab->cfg.ctxs;
	case ANGARA_REG_TREES:
		return fab->cfg.trees;
	case ANGARA_REG_FABRIC_LO:
		return (u32)fab->cfg.fabric_id;
	case ANGARA_REG_FABRIC_HI:
		return (u32)(fab->cfg.fabric_id >> 32);
	case ANGARA_REG_CONTROL:
	case ANGARA_REG_ASQ_LO ... ANGARA_REG_AEQ_ENTRIES:
		return reg_get(n, off);
	default:
		return ~0U;
	}
}

static void ctx_reg_write(struct ang_view *v, struct ang_node *n, u32 ctx,
			  u32 off, u32 val)
{
	struct ang_ctx *c;

	if (ctx >= v->fab->cfg.ctxs)
		return;
	c = ang_ctx(v->fab, n, ctx);
	if (off == ANGARA_DB_SQ) {
		/*
		 * Pairs with ang_doorbell(): a view that reads the index sees
		 * all entries before that index.
		 */
		ang_store_release(&c->db_sq, val);
	} else if (off == ANGARA_DB_ARM) {
		WRITE_ONCE(c->db_arm, val);
		ang_store_release(&c->db_armed, 1);
	} else {
		return;
	}
	ang_fetch_or(&n->db[ctx / 64], 1ULL << (ctx % 64));
	ang_wake(v, n, 0);
}

void ang_reg_write(struct ang_view *v, u32 node, u32 off, u32 val)
{
	struct ang_node *n;

	if (node >= v->topo.nodes || off % 4)
		return;
	n = ang_node(v->fab, node);
	if (off >= ANGARA_PAGE_SIZE) {
		ctx_reg_write(v, n, off / ANGARA_PAGE_SIZE - 1,
			      off % ANGARA_PAGE_SIZE, val);
		return;
	}
	if (off != ANGARA_REG_CONTROL &&
	    (off < ANGARA_REG_ASQ_LO || off > ANGARA_REG_AEQ_CI))
		return;
	WRITE_ONCE(n->reg[off / 4], val);
	if (off != ANGARA_REG_CONTROL && off != ANGARA_REG_ASQ_DB)
		return;
	ang_store_release(&n->db_admin, 1);
	ang_wake(v, n, 0);
}

static bool entries_ok(u32 entries)
{
	return entries >= 2 && entries <= ANGARA_ADM_MAX_ENTRIES &&
	       !(entries & (entries - 1));
}

static bool adm_again(struct ang_node *n)
{
	ang_store_release(&n->db_admin, 1);
	return true;
}

/*
 * Act on CONTROL: enable the node with the queues as programmed, or reset it.
 * A reset that has begun is completed, whatever is written to CONTROL
 * meanwhile.
 * Return: false if the reset continues in a later step; the switch or node that
 * the reset waits for wakes this node.
 */
static bool reg_control(struct ang_view *v, struct ang_node *n)
{
	bool on = reg_get(n, ANGARA_REG_CONTROL) & ANGARA_CONTROL_ENABLE;
	struct ang_admin *adm = &n->adm;

	if (n->enabled && !on)
		n->resetting = 1;
	if (n->resetting) {
		if (!ang_lost(v, n) || !ang_node_reset(v, n)) {
			adm_again(n);
			return false;
		}
		if (!ang_detour_reset(v, n) || !ang_faults_reset(v, n) ||
		    !ang_switches_reset(v, n))
			return false;
		ang_lost_forget(n);
		n->resetting = 0;
		ang_store_release(&n->enabled, 0);
		ang_lost_wake(v);
	}
	if (!on || n->enabled)
		return true;
	adm->asq = reg_get64(n, ANGARA_REG_ASQ_LO);
	adm->acq = reg_get64(n, ANGARA_REG_ACQ_LO);
	adm->aeq = reg_get64(n, ANGARA_REG_AEQ_LO);
	adm->entries = reg_get(n, ANGARA_REG_ADM_ENTRIES);
	adm->aeq_entries = reg_get(n, ANGARA_REG_AEQ_ENTRIES);
	if (!entries_ok(adm->entries) || !entries_ok(adm->aeq_entries))
		return true;
	WRITE_ONCE(n->reg[ANGARA_REG_ASQ_DB / 4], 0);
	WRITE_ONCE(n->reg[ANGARA_REG_AEQ_CI / 4], 0);
	ang_store_release(&n->enabled, 1);
	return true;
}

/*
 * The memory of a queue cannot be accessed, so the queue cannot report this
 * error.  Stop all queues and set the status register; otherwise the driver
 * would wait for a lost answer for ever.  If this node is changing the routes,
 * host_serve() ends the change: other nodes must not wait for it.
 */
static void adm_fatal(struct ang_node *n)
{
	WRITE_ONCE(n->adm.fatal, 1);
	ang_store_release(&n->db_admin, 1);
}

/**
 * ang_event() - report an event to the driver
 * @v: view
 * @n: node
 * @type: ANGARA_AEV_*
 * @index: see ANGARA_AEV_*
 * @value: see ANGARA_AEV_*
 */
void ang_event(struct ang_view *v, struct ang_node *n, u32 type, u32 index,
	       u32 value)
{
	struct ang_admin *adm = &n->adm;
	struct angara_hw_event ev;
	__le64 last;
	u64 addr;

	if (!n->enabled || adm->fatal)
		return;
	if (adm->aeq_pi - reg_get(n, ANGARA_REG_AEQ_CI) >= adm->aeq_entries) {
		adm->aeq_lost++;
		return;
	}
	memset(&ev, 0, sizeof(ev));
	ev.index = cpu_to_le32(index);
	ev.value = cpu_to_le32(value);
	ev.type = (u8)type;
	ev.lost = (u8)ang_min(adm->aeq_lost, 255);
	ev.phase = !(adm->aeq_pi & adm->aeq_entries);
	addr = adm->aeq + (u64)(adm->aeq_pi & (adm->aeq_entries - 1)) * sizeof(ev);
	memcpy(&last, (char *)&ev + 8, sizeof(last));
	if (ang_dma_write(v, n, addr, &ev, 8) ||
	    ang_store64(v, n, addr + 8, le64_to_cpu(last))) {
		adm_fatal(n);
		return;
	}
	adm->aeq_lost = 0;
	adm->aeq_pi++;
	ang_interrupt(v, n, ANGARA_VEC_ADMIN);
}

static void row_out(struct angara_hw_row *hw, const struct angara_tree_row *row)
{
	hw->tree = row->tree;
	hw->is_root = row->is_root;
	hw->to_root = row->to_root;
	hw->port_sum = row->port_sum;
	hw->ports = cpu_to_le64(row->ports);
	hw->pe = cpu_to_le16(row->pe);
	hw->pkey = cpu_to_le32(row->pkey);
	hw->epoch = cpu_to_le16(row->epoch);
}

/* Return: number of a row's life in commands and answers, never 0. */
static __le16 life_out(const struct ang_tree *t)
{
	return cpu_to_le16((u16)(t->life % 0xFFFF + 1));
}

typedef u32 (*admin_fn)(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl);

/*
 * Executes NOP and FENCE.  A fence needs no work here: no step uses an entry of a
 * region that an earlier step has read.
 */
static u32 adm_nop(struct ang_view *v, struct ang_node *n,
		   const struct angara_adm_cmd *cmd, struct angara_adm_cpl *cpl)
{
	return ANGARA_ADM_ST_OK;
}

static u32 adm_ctx_create(struct ang_view *v, struct ang_node *n,
			  const struct angara_adm_cmd *cmd,
			  struct angara_adm_cpl *cpl)
{
	return ang_ctx_create(v, n, le16_to_cpu(cmd->ctx), &cmd->create);
}

static u32 adm_ctx_destroy(struct ang_view *v, struct ang_node *n,
			   const struct angara_adm_cmd *cmd,
			   struct angara_adm_cpl *cpl)
{
	return ang_ctx_destroy(v, n, le16_to_cpu(cmd->ctx));
}

static u32 adm_domain_create(struct ang_view *v, struct ang_node *n,
			     const struct angara_adm_cmd *cmd,
			     struct angara_adm_cpl *cpl)
{
	return ang_domain_create(v, n, le16_to_cpu(cmd->ctx), &cmd->domain);
}

static u32 adm_domain_destroy(struct ang_view *v, struct ang_node *n,
			      const struct angara_adm_cmd *cmd,
			      struct angara_adm_cpl *cpl)
{
	return ang_domain_destroy(v, n, le16_to_cpu(cmd->ctx));
}

static u32 adm_domain_table(struct ang_view *v, struct ang_node *n,
			    const struct angara_adm_cmd *cmd,
			    struct angara_adm_cpl *cpl)
{
	return ang_domain_table(v, n, le16_to_cpu(cmd->ctx), &cmd->domain);
}

static u32 adm_tree_set(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl)
{
	const struct angara_hw_row *hw = &cmd->set.row;
	struct angara_tree_row row;
	u32 rule = 0;
	u32 status;

	ang_tree_row_in(&row, hw);
	row.reserved = hw->state || hw->members || hw->life;
	status = ang_tree_set(v, n, &row, le64_to_cpu(cmd->set.job), &rule);
	cpl->value = cpu_to_le32(rule);
	if (status == ANGARA_ADM_ST_OK)
		cpl->row.life = life_out(&n->tree[row.tree]);
	return status;
}

static u32 adm_tree_clear(struct ang_view *v, struct ang_node *n,
			  const struct angara_adm_cmd *cmd,
			  struct angara_adm_cpl *cpl)
{
	if (cmd->set.row.life && cmd->set.row.life != life_out(&n->tree[cmd->tree]))
		return ANGARA_ADM_ST_ABSENT;
	return ang_tree_clear(v, n, cmd->tree);
}

static u32 adm_tree_get(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl)
{
	struct ang_tree *t = &n->tree[cmd->tree];

	if (t->state == ANGARA_TREE_STATE_UNSET)
		return ANGARA_ADM_ST_ABSENT;
	row_out(&cpl->row, &t->row);
	cpl->row.state = t->state;
	cpl->row.members = t->members;
	cpl->row.life = life_out(t);
	cpl->value = cpu_to_le32(t->down_node);
	return ANGARA_ADM_ST_OK;
}

static u32 adm_join(struct ang_view *v, struct ang_node *n,
		    const struct angara_adm_cmd *cmd,
		    struct angara_adm_cpl *cpl)
{
	return ang_tree_join(v, n, le16_to_cpu(cmd->ctx), cmd->tree,
			     cmd->place);
}

static u32 adm_leave(struct ang_view *v, struct ang_node *n,
		     const struct angara_adm_cmd *cmd,
		     struct angara_adm_cpl *cpl)
{
	return ang_tree_leave(v, n, le16_to_cpu(cmd->ctx), cmd->tree);
}

static u32 adm_counters(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl)
{
	union ang_counters counters;
	u32 status;

	/*
	 * The keeper writes the counters to host memory, see ang_switch_call().
	 */
	if (ang_is_switch(v->fab, n))
		return ang_counters_read(v, n, &cmd->counters, &n->box.counters);
	status = ang_counters_read(v, n, &cmd->counters, &counters);
	return status ? status :
			ang_counters_give(v, n, &cmd->counters, &counters);
}

static u32 adm_msg_area(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl)
{
	return ang_msg_area(v, n, le16_to_cpu(cmd->ctx), &cmd->msg);
}

static u32 adm_describe(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl)
{
	const char *text = (const char *)v->fab + v->fab->off_text;
	u32 offset = le32_to_cpu(cmd->text.offset);
	u32 size = v->fab->text_size;
	u32 len;

	if (offset > size)
		return ANGARA_ADM_ST_PARAM;
	len = ang_min(le32_to_cpu(cmd->text.length), size - offset);
	if (len && ang_dma_write(v, n, le64_to_cpu(cmd->text.addr), text + offset, len))
		return ANGARA_ADM_ST_DMA;
	cpl->value = cpu_to_le32(size);
	return ANGARA_ADM_ST_OK;
}

static u32 adm_link_set(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd,
			struct angara_adm_cpl *cpl)
{
	return ang_link_set(v, n, &cmd->link);
}

static u32 adm_mgmt_send(struct ang_view *v, struct ang_node *n,
			 const struct angara_adm_cmd *cmd,
			 struct angara_adm_cpl *cpl)
{
	return ang_mgmt_post(v, n, &cmd->mgmt);
}

static u32 adm_mgmt_recv(struct ang_view *v, struct ang_node *n,
			 const struct angara_adm_cmd *cmd,
			 struct angara_adm_cpl *cpl)
{
	return ang_mgmt_collect(v, n, &cmd->mgmt);
}

static u32 adm_route_set(struct ang_view *v, struct ang_node *n,
			 const struct angara_adm_cmd *cmd,
			 struct angara_adm_cpl *cpl)
{
	u32 bad = 0;
	u32 status = ang_detour_set(v, n, &cmd->route, &bad);

	cpl->value = cpu_to_le32(bad);
	return status;
}

static const admin_fn commands[ANGARA_ADM_NUM] = {
	[ANGARA_ADM_NOP] = adm_nop,
	[ANGARA_ADM_CTX_CREATE] = adm_ctx_create,
	[ANGARA_ADM_CTX_DESTROY] = adm_ctx_destroy,
	[ANGARA_ADM_FENCE] = adm_nop,
	[ANGARA_ADM_TREE_SET] = adm_tree_set,
	[ANGARA_ADM_TREE_CLEAR] = adm_tree_clear,
	[ANGARA_ADM_TREE_GET] = adm_tree_get,
	[ANGARA_ADM_JOIN] = adm_join,
	[ANGARA_ADM_LEAVE] = adm_leave,
	[ANGARA_ADM_COUNTERS] = adm_counters,
	[ANGARA_ADM_MSG_AREA] = adm_msg_area,
	[ANGARA_ADM_DOMAIN_CREATE] = adm_domain_create,
	[ANGARA_ADM_DOMAIN_DESTROY] = adm_domain_destroy,
	[ANGARA_ADM_DOMAIN_TABLE] = adm_domain_table,
	[ANGARA_ADM_DESCRIBE] = adm_describe,
	[ANGARA_ADM_LINK_SET] = adm_link_set,
	[ANGARA_ADM_MGMT_SEND] = adm_mgmt_send,
	[ANGARA_ADM_MGMT_RECV] = adm_mgmt_recv,
	[ANGARA_ADM_ROUTE_SET] = adm_route_set,
};

/*
 * Take down the trees of a context that is to be destroyed, one by one.
 * Return: false if the work of this step is used up and trees remain.
 */
static bool trees_left(struct ang_view *v, struct ang_node *n, u32 ctx)
{
	struct ang_ctx *c = ang_ctx_get(v, n, ctx);

	while (c && c->joined) {
		ang_tree_leave(v, n, ctx, ang_lowest(c->joined));
		if (c->joined && ang_spent(v))
			return false;
	}
	return true;
}

/*
 * Must the command wait?  ABORT packets of a row must leave before the row is
 * set again: a neighbor that misses an ABORT packet would wait for ever.
 */
static bool must_wait(struct ang_view *v, struct ang_node *n,
		      const struct angara_adm_cmd *cmd)
{
	if (cmd->opcode == ANGARA_ADM_CTX_DESTROY && !cmd->reserved &&
	    !cmd->place && cmd->tree < v->fab->cfg.trees)
		return !trees_left(v, n, le16_to_cpu(cmd->ctx));
	if (cmd->opcode == ANGARA_ADM_LINK_SET &&
	    cmd->link.what & ANGARA_LINK_UP)
		return !ang_lost_seen(v);
	if (cmd->opcode == ANGARA_ADM_ROUTE_SET)
		return !ang_detour_ready(v, n, &cmd->route);
	return cmd->opcode == ANGARA_ADM_TREE_SET &&
	       cmd->set.row.tree < v->fab->cfg.trees &&
	       n->tree[cmd->set.row.tree].state == ANGARA_TREE_STATE_UNSET &&
	       n->tree[cmd->set.row.tree].abort_todo;
}

/**
 * ang_command() - execute a command that is well-formed
 * @v: view
 * @n: node, or the switch that the command names
 * @cmd: command
 * @cpl: out: answer
 *
 * Return: true; false if the command has to wait, for room on a link or for the
 * next step.
 */
bool ang_command(struct ang_view *v, struct ang_node *n,
		 const struct angara_adm_cmd *cmd, struct angara_adm_cpl *cpl)
{
	if (must_wait(v, n, cmd)) {
		ang_store_release(&n->db_admin, 1);
		return false;
	}
	ang_work(v, ANG_WORK_CMD);
	memset(cpl, 0, sizeof(*cpl));
	cpl->status = (u8)commands[cmd->opcode](v, n, cmd, cpl);
	return true;
}

static bool is_about_row(u32 opcode)
{
	return opcode == ANGARA_ADM_TREE_SET ||
	       opcode == ANGARA_ADM_TREE_CLEAR || opcode == ANGARA_ADM_TREE_GET;
}

/* Return: number of the router that a command names. */
static u32 router_of(const struct ang_node *n, const struct angara_adm_cmd *cmd)
{
	if (is_about_row(cmd->opcode))
		return le32_to_cpu(cmd->set.router);
	if (cmd->opcode == ANGARA_ADM_COUNTERS)
		return le32_to_cpu(cmd->counters.router);
	if (cmd->opcode == ANGARA_ADM_LINK_SET)
		return le32_to_cpu(cmd->link.router);
	return n->id;
}

/* Can ang_command() execute a command?  Return: ANGARA_ADM_ST_*. */
static u32 adm_malformed(struct ang_view *v, const struct angara_adm_cmd *cmd)
{
	if (cmd->opcode >= ANGARA_ADM_NUM)
		return ANGARA_ADM_ST_OPCODE;
	if (cmd->reserved || (cmd->place && cmd->opcode != ANGARA_ADM_JOIN) ||
	    cmd->tree >= v->fab->cfg.trees)
		return ANGARA_ADM_ST_PARAM;
	if (is_about_row(cmd->opcode) && cmd->set.reserved)
		return ANGARA_ADM_ST_PARAM;
	if (cmd->opcode == ANGARA_ADM_LINK_SET &&
	    cmd->link.reserved[0] | cmd->link.reserved[1] | cmd->link.reserved[2])
		return ANGARA_ADM_ST_PARAM;
	return ANGARA_ADM_ST_OK;
}

/* Execute a command of the admin queue.  Return: false if it has to wait. */
static bool adm_execute(struct ang_view *v, struct ang_node *n,
			const struct angara_adm_cmd *cmd, struct angara_adm_cpl *cpl)
{
	u32 router = router_of(n, cmd);
	u32 status = adm_malformed(v, cmd);
	struct ang_node *s;

	if (!status && router != n->id) {
		s = ang_switch_of(v, n, router);
		if (s)
			return ang_switch_call(v, n, s, cmd, cpl);
		status = ANGARA_ADM_ST_PARAM;
	}
	if (!status)
		return ang_command(v, n, cmd, cpl);
	ang_work(v, ANG_WORK_CMD);
	memset(cpl, 0, sizeof(*cpl));
	cpl->status = (u8)status;
	return true;
}

/*
 * Copy the next command, once: if the command has to wait, the copy is
 * executed.
 * Return: false if the queue's memory cannot be read.
 */
static bool command_fetch(struct ang_view *v, struct ang_node *n)
{
	struct ang_admin *adm = &n->adm;
	u32 at = adm->asq_ci & (adm->entries - 1);

	if (!adm->fetched &&
	    ang_dma_read(v, n, adm->asq + (u64)at * sizeof(adm->cmd), &adm->cmd,
			 sizeof(adm->cmd)))
		return false;
	adm->fetched = 1;
	return true;
}

static void adm_complete(struct ang_view *v, struct ang_node *n,
			 struct angara_adm_cpl *cpl)
{
	struct ang_admin *adm = &n->adm;
	u32 at = adm->acq_pi & (adm->entries - 1);
	u64 addr = adm->acq + (u64)at * sizeof(*cpl);
	__le64 last;

	cpl->tag = adm->cmd.tag;
	cpl->phase = !(adm->acq_pi & adm->entries);
	memcpy(&last, (char *)cpl + 24, sizeof(last));
	if (ang_dma_write(v, n, addr, cpl, 24) ||
	    ang_store64(v, n, addr + 24, le64_to_cpu(last))) {
		adm_fatal(n);
		return;
	}
	adm->acq_pi++;
	ang_interrupt(v, n, ANGARA_VEC_ADMIN);
}

/* Act on registers and commands.  Return: true if something was done. */
static bool host_serve(struct ang_view *v, struct ang_node *n)
{
	struct ang_admin *adm = &n->adm;
	struct angara_adm_cpl cpl;
	bool progress = false;
	u32 pi;

	if (ang_is_switch(v->fab, n))
		return ang_lost(v, n) ? ang_switch_serve(v, n) : adm_again(n);
	if (!reg_control(v, n))
		return true;
	if (!n->enabled)
		return true;
	if (!ang_lost(v, n))
		return adm_again(n);
	if (adm->fatal) {
		ang_detour_reset(v, n);
		return true;
	}
	pi = reg_get(n, ANGARA_REG_ASQ_DB);
	if (pi - adm->asq_ci > adm->entries)
		return true;
	for (; adm->asq_ci != pi && !adm->fatal; adm->asq_ci++) {
		if (progress && ang_spent(v))
			return adm_again(n);
		if (!command_fetch(v, n)) {
			adm_fatal(n);
			break;
		}
		if (!adm_execute(v, n, &adm->cmd, &cpl))
			return progress;
		adm->fetched = 0;
		adm_complete(v, n, &cpl);
		progress = true;
	}
	return true;
}

/**
 * ang_admin() - act on registers, admin commands and management packets
 * @v: view
 * @n: node
 *
 * Return: true if something was done.
 */
bool ang_admin(struct ang_view *v, struct ang_node *n)
{
	bool served;

	if (!READ_ONCE(n->db_admin) || !ang_xchg(&n->db_admin, 0))
		return false;
	served = ang_mgmt_serve(v, n);
	if (served && ang_spent(v))
		return adm_again(n);
	return host_serve(v, n) || served;
}
