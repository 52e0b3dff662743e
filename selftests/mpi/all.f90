! SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
!
! Every collective of MPI from Fortran, blocking and non-blocking, on at most 16
! processes, with results computed here; built for each interface: the module mpi_f08
! (-DF08), the module mpi (-DMODULE), and the header mpif.h (-DHEADER).
!
! Rank 0 prints "N processes: good" at the end.
program all
#ifdef F08
  use mpi_f08
#define REQUEST type(MPI_Request)
#else
#ifdef MODULE
  use mpi
#endif
#define REQUEST integer
#endif
  implicit none
#ifdef HEADER
  include 'mpif.h'
#endif
  integer :: rank, n, ierr, i, bad, any
  integer :: in(48), out(48), buf(48), counts(16), displs(16)
  REQUEST :: r

  bad = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  do i = 1, 48
    in(i) = given(rank, i)
  end do
  do i = 1, n
    counts(i) = 2
    displs(i) = 2 * (n - i)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Ibarrier(MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)

  buf = in
  call MPI_Bcast(buf, 3, MPI_INTEGER, 1, &
    MPI_COMM_WORLD, ierr)
  call check("bcast", buf(3), 103)
  buf = in
  call MPI_Ibcast(buf, 3, MPI_INTEGER, 1, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("bcast", buf(3), 103)

  out = -1
  call MPI_Reduce(in, out, 3, MPI_INTEGER, MPI_SUM, 1, &
    MPI_COMM_WORLD, ierr)
  if (rank == 1) call check("reduce", out(3), total(3))
  out = -1
  call MPI_Ireduce(in, out, 3, MPI_INTEGER, MPI_SUM, 1, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  if (rank == 1) call check("reduce", out(3), total(3))

  out = -1
  call MPI_Allreduce(in, out, 3, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, ierr)
  call check("allreduce", out(2), total(2))
  out = -1
  call MPI_Iallreduce(in, out, 3, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("allreduce", out(2), total(2))

  out = -1
  call MPI_Scan(in, out, 3, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, ierr)
  call check("scan", out(1), partial(rank, 1))
  out = -1
  call MPI_Iscan(in, out, 3, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("scan", out(1), partial(rank, 1))

  out = -1
  call MPI_Exscan(in, out, 3, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, ierr)
  if (rank > 0) call check("exscan", out(3), partial(rank - 1, 3))
  out = -1
  call MPI_Iexscan(in, out, 3, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  if (rank > 0) call check("exscan", out(3), partial(rank - 1, 3))

  out = -1
  call MPI_Reduce_scatter_block(in, out, 2, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, ierr)
  call check("reduce_scatter_block", out(2), total(2 * rank + 2))
  out = -1
  call MPI_Ireduce_scatter_block(in, out, 2, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("reduce_scatter_block", out(2), total(2 * rank + 2))

  out = -1
  call MPI_Reduce_scatter(in, out, counts, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, ierr)
  call check("reduce_scatter", out(1), total(2 * rank + 1))
  out = -1
  call MPI_Ireduce_scatter(in, out, counts, MPI_INTEGER, MPI_SUM, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("reduce_scatter", out(1), total(2 * rank + 1))

  out = -1
  call MPI_Gather(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, 0, &
    MPI_COMM_WORLD, ierr)
  if (rank == 0) call check("gather", out(2 * n), given(n - 1, 2))
  out = -1
  call MPI_Igather(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, 0, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  if (rank == 0) call check("gather", out(2 * n), given(n - 1, 2))

  out = -1
  call MPI_Gatherv(in, 2, MPI_INTEGER, out, counts, displs, MPI_INTEGER, 0, &
    MPI_COMM_WORLD, ierr)
  if (rank == 0) call check("gatherv", out(1), given(n - 1, 1))
  out = -1
  call MPI_Igatherv(in, 2, MPI_INTEGER, out, counts, displs, MPI_INTEGER, 0, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  if (rank == 0) call check("gatherv", out(1), given(n - 1, 1))

  out = -1
  call MPI_Scatter(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, 1, &
    MPI_COMM_WORLD, ierr)
  call check("scatter", out(2), given(1, 2 * rank + 2))
  out = -1
  call MPI_Iscatter(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, 1, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("scatter", out(2), given(1, 2 * rank + 2))

  out = -1
  call MPI_Scatterv(in, counts, displs, MPI_INTEGER, out, 2, MPI_INTEGER, 1, &
    MPI_COMM_WORLD, ierr)
  call check("scatterv", out(1), given(1, 2 * (n - 1 - rank) + 1))
  out = -1
  call MPI_Iscatterv(in, counts, displs, MPI_INTEGER, out, 2, MPI_INTEGER, 1, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("scatterv", out(1), given(1, 2 * (n - 1 - rank) + 1))

  out = -1
  call MPI_Allgather(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, &
    MPI_COMM_WORLD, ierr)
  call check("allgather", out(4), given(1, 2))
  out = -1
  call MPI_Iallgather(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("allgather", out(4), given(1, 2))

  out = -1
  call MPI_Allgatherv(in, 2, MPI_INTEGER, out, counts, displs, MPI_INTEGER, &
    MPI_COMM_WORLD, ierr)
  call check("allgatherv", out(1), given(n - 1, 1))
  out = -1
  call MPI_Iallgatherv(in, 2, MPI_INTEGER, out, counts, displs, MPI_INTEGER, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("allgatherv", out(1), given(n - 1, 1))

  out = -1
  call MPI_Alltoall(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, &
    MPI_COMM_WORLD, ierr)
  call check("alltoall", out(4), given(1, 2 * rank + 2))
  out = -1
  call MPI_Ialltoall(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("alltoall", out(4), given(1, 2 * rank + 2))

  out = -1
  call MPI_Alltoallv(in, counts, displs, MPI_INTEGER, out, counts, displs, MPI_INTEGER, &
    MPI_COMM_WORLD, ierr)
  call check("alltoallv", out(1), given(n - 1, 2 * (n - 1 - rank) + 1))
  out = -1
  call MPI_Ialltoallv(in, counts, displs, MPI_INTEGER, out, counts, displs, MPI_INTEGER, &
    MPI_COMM_WORLD, r, ierr)
  call MPI_Wait(r, MPI_STATUS_IGNORE, ierr)
  call check("alltoallv", out(1), given(n - 1, 2 * (n - 1 - rank) + 1))

  out = -1
  if (rank == 0) out(1:3) = in(1:3)
  if (rank == 0) then
    call MPI_Reduce(MPI_IN_PLACE, out, 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
    call check("in place", out(3), given(n - 1, 3))
  else
    call MPI_Reduce(in, out, 3, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Allreduce(bad, any, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. any == 0) print '(i0, a)', n, " processes: good"
  call MPI_Finalize(ierr)
  if (any /= 0) stop 1

contains

  integer function given(from, at)
    integer, intent(in) :: from, at
    given = 100 * from + at
  end function given

  ! Sum of the elements of ranks up to this one.
  integer function partial(last, at)
    integer, intent(in) :: last, at
    integer :: k
    partial = 0
    do k = 0, last
      partial = partial + given(k, at)
    end do
  end function partial

  integer function total(at)
    integer, intent(in) :: at
    total = partial(n - 1, at)
  end function total

  subroutine check(what, got, want)
    character(len=*), intent(in) :: what
    integer, intent(in) :: got, want
    if (got == want) return
    print '(a, i0, 3a, i0, a, i0)', "rank ", rank, ": ", what, ": ", got, ", not ", want
    bad = 1
  end subroutine check
end program all
