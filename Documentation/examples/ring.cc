// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * angara-run -n 4 ./ring: each process puts its rank into the memory of its
 * right neighbour, which detects the data by a user counter; then all sum up
 * the data.
 */
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <angara/angara.h>

static void check(int ret, const char *what)
{
	if (ret)
		throw std::runtime_error(std::string(what) + ": " + std::strerror(-ret));
}

/* An object of the library and the function that ends it. */
template <auto end> struct ender {
	template <typename T> void operator()(T *object) const { end(object); }
};
template <typename T, auto end> using owned = std::unique_ptr<T, ender<end>>;

/* What @make makes by its last argument. */
template <typename T, auto end, typename F, typename... Args>
static owned<T, end> made(const char *what, F make, Args... args)
{
	T *object = nullptr;

	check(make(args..., &object), what);
	return owned<T, end>(object);
}

static int64_t ring()
{
	auto job = made<angara_job, angara_job_finalize>("job", angara_job_init);
	auto dom = made<angara_domain, angara_domain_close>("domain", angara_domain_open,
							    nullptr, nullptr);
	auto ctx = made<angara_ctx, angara_ctx_close>("context", angara_ctx_open,
						      dom.get(), nullptr);
	auto team = made<angara_team, angara_team_destroy>("team", angara_team_create,
							   job.get(), ctx.get(), nullptr,
							   0, nullptr);
	auto mr = made<angara_mr, angara_free>("memory", angara_malloc, dom.get(),
					       sizeof(int64_t));
	unsigned int rank = angara_job_rank(job.get());
	unsigned int size = angara_job_size(job.get());
	unsigned int right = (rank + 1) % size;
	const auto key = angara_mr_key(mr.get());
	std::vector<decltype(angara_mr_key(nullptr))> keys(size);
	const int64_t mine = rank;
	angara_op op = {};

	op.size = sizeof(op);
	op.flags = ANGARA_NOTIFY | ANGARA_SILENT;

	check(angara_job_allgather(job.get(), &key, sizeof(key), keys.data()), "keys");
	check(angara_put_inline_nbi(ctx.get(), angara_team_peer(team.get(), right),
				    keys[right], 0, &mine, sizeof(mine), &op), "put");
	check(angara_counter_wait(ctx.get(), 0, 1, ANGARA_FOREVER), "notice");

	auto *value = static_cast<int64_t *>(angara_mr_addr(mr.get()));

	std::cout << "rank " + std::to_string(rank) + " got " +
		     std::to_string(*value) + "\n";
	check(angara_allreduce_nbi(team.get(), mr.get(), 0, mr.get(), 0, 1,
				   ANGARA_TYPE_INT64, ANGARA_RED_SUM, nullptr), "allreduce");
	check(angara_quiet(ctx.get(), ANGARA_FOREVER), "sum");
	return *value;
}

int main()
try {
	std::cout << "sum " + std::to_string(ring()) + "\n";
	return EXIT_SUCCESS;
} catch (const std::exception &e) {
	std::cerr << e.what() << '\n';
	return EXIT_FAILURE;
}
