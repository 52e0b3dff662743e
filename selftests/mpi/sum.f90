! SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
!
! Collectives of Fortran, by the module mpi and by the module mpi_f08. Rank 0
! prints "N processes: good" if all results are as computed.

module by_mpi
  use mpi
  implicit none
contains
  integer function faults(rank, n)
    integer, intent(in) :: rank, n
    integer :: sums(3), ranks(3), comm, ierr, i
    double precision :: x, y

    faults = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    ranks = [(rank * i, i = 1, 3)]
    call MPI_Allreduce(ranks, sums, 3, MPI_INTEGER, MPI_SUM, comm, ierr)
    if (any(sums /= [(n * (n - 1) / 2 * i, i = 1, 3)])) faults = faults + 1
    x = rank + 0.5d0
    call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION, MPI_MAX, comm, ierr)
    if (x /= n - 0.5d0) faults = faults + 1
    x = rank
    y = -1
    call MPI_Reduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, n - 1, comm, ierr)
    if (rank == n - 1 .and. y /= n * (n - 1) / 2) faults = faults + 1
    if (rank /= n - 1 .and. y /= -1) faults = faults + 1
    if (rank == 0) ranks = [7, 8, 9]
    call MPI_Bcast(ranks, 3, MPI_INTEGER, 0, comm, ierr)
    if (any(ranks /= [7, 8, 9])) faults = faults + 1
    call MPI_Barrier(comm, ierr)
    faults = faults + requests(comm, rank, n)
    call MPI_Comm_free(comm, ierr)
    if (comm /= MPI_COMM_NULL) faults = faults + 1
  end function faults

  ! Collectives in progress beside a message around the ring.
  integer function requests(comm, rank, n)
    integer, intent(in) :: comm, rank, n
    integer, asynchronous :: all(n), sums(2), got
    integer :: reqs(4), i, ierr, outcount, indices(4), at
    integer :: status(MPI_STATUS_SIZE)
    logical :: flag

    requests = 0
    got = -1
    call MPI_Irecv(got, 1, MPI_INTEGER, modulo(rank - 1, n), 4, comm, reqs(1), ierr)
    call MPI_Iallreduce(rank, sums(1), 1, MPI_INTEGER, MPI_SUM, comm, reqs(2), ierr)
    call MPI_Wait(reqs(2), MPI_STATUS_IGNORE, ierr)
    call MPI_Iallgather(rank, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, reqs(2), ierr)
    call MPI_Ibarrier(comm, reqs(3), ierr)
    call MPI_Isend(rank, 1, MPI_INTEGER, modulo(rank + 1, n), 4, comm, reqs(4), ierr)
    call MPI_Waitall(4, reqs, MPI_STATUSES_IGNORE, ierr)
    if (got /= modulo(rank - 1, n) .or. sums(1) /= n * (n - 1) / 2) requests = requests + 1
    if (any(all /= [(i, i = 0, n - 1)])) requests = requests + 1
    if (any(reqs /= MPI_REQUEST_NULL)) requests = requests + 1
    sums = -1
    if (rank == 0) sums(2) = 17
    call MPI_Iscan(MPI_IN_PLACE, all(1), 1, MPI_INTEGER, MPI_MAX, comm, reqs(1), ierr)
    call MPI_Ibcast(sums(2), 1, MPI_INTEGER, 0, comm, reqs(2), ierr)
    call MPI_Waitany(2, reqs, at, status, ierr)
    if (at < 1 .or. at > 2) requests = requests + 1
    outcount = 0
    do while (outcount /= MPI_UNDEFINED)
      call MPI_Waitsome(2, reqs, outcount, indices, MPI_STATUSES_IGNORE, ierr)
    end do
    if (sums(2) /= 17) requests = requests + 1
    call MPI_Ireduce(rank, sums(1), 1, MPI_INTEGER, MPI_MAX, 0, comm, reqs(1), ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(reqs(1), flag, status, ierr)
    end do
    if (rank == 0 .and. sums(1) /= n - 1) requests = requests + 1
#ifdef PERSISTENT
    call MPI_Allreduce_init(rank, sums(1), 1, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, &
      reqs(1), ierr)
    do i = 1, 3
      sums(1) = -1
      call MPI_Start(reqs(1), ierr)
      call MPI_Wait(reqs(1), MPI_STATUS_IGNORE, ierr)
      if (sums(1) /= n * (n - 1) / 2) requests = requests + 1
    end do
    call MPI_Request_free(reqs(1), ierr)
#endif
  end function requests
end module by_mpi

module by_f08
  use mpi_f08
  implicit none
contains
  integer function faults_f08(rank, n)
    integer, intent(in) :: rank, n
    type(MPI_Comm) :: comm
    integer :: sums(3), ranks(3), i

    faults_f08 = 0
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    ranks = [(rank * i, i = 1, 3)]
    call MPI_Allreduce(ranks, sums, 3, MPI_INTEGER, MPI_SUM, comm)
    if (any(sums /= [(n * (n - 1) / 2 * i, i = 1, 3)])) faults_f08 = faults_f08 + 1
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, ranks, 3, MPI_INTEGER, MPI_SUM, 0, comm)
      if (any(ranks /= sums)) faults_f08 = faults_f08 + 1
    else
      call MPI_Reduce(ranks, sums, 3, MPI_INTEGER, MPI_SUM, 0, comm)
    end if
    call MPI_Bcast(ranks, 3, MPI_INTEGER, 0, comm)
    if (any(ranks /= [(n * (n - 1) / 2 * i, i = 1, 3)])) faults_f08 = faults_f08 + 1
    call MPI_Barrier(comm)
    faults_f08 = faults_f08 + requests_f08(comm, rank, n)
    call MPI_Comm_free(comm)
  end function faults_f08

  integer function requests_f08(comm, rank, n)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: rank, n
    type(MPI_Request) :: reqs(4)
    type(MPI_Status) :: statuses(4), status
    integer, asynchronous :: all(n), mine, sum, got
    integer :: at, i, outcount, indices(4)
    logical :: flag

    requests_f08 = 0
    got = -1
    mine = rank
    call MPI_Irecv(got, 1, MPI_INTEGER, modulo(rank - 1, n), 4, comm, reqs(1))
    call MPI_Iallgather(mine, 1, MPI_INTEGER, all, 1, MPI_INTEGER, comm, reqs(2))
    call MPI_Ibarrier(comm, reqs(3))
    call MPI_Isend(mine, 1, MPI_INTEGER, modulo(rank + 1, n), 4, comm, reqs(4))
    call MPI_Waitall(4, reqs, statuses)
    if (got /= modulo(rank - 1, n) .or. statuses(1)%MPI_SOURCE /= got) requests_f08 = 1
    if (any(all /= [(i, i = 0, n - 1)])) requests_f08 = requests_f08 + 1
    call MPI_Iallreduce(mine, sum, 1, MPI_INTEGER, MPI_SUM, comm, reqs(1))
    call MPI_Ibarrier(comm, reqs(2))
    call MPI_Waitany(2, reqs(1:2), at, status)
    if (at < 1 .or. at > 2) requests_f08 = requests_f08 + 1
    outcount = 0
    do while (outcount /= MPI_UNDEFINED)
      call MPI_Testsome(2, reqs, outcount, indices, MPI_STATUSES_IGNORE)
    end do
    if (sum /= n * (n - 1) / 2) requests_f08 = requests_f08 + 1
    call MPI_Iexscan(mine, sum, 1, MPI_INTEGER, MPI_SUM, comm, reqs(1))
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(1, reqs, flag, MPI_STATUSES_IGNORE)
    end do
    if (rank > 0 .and. sum /= rank * (rank - 1) / 2) requests_f08 = requests_f08 + 1
    call MPI_Ibcast(got, 1, MPI_INTEGER, 0, comm, reqs(1))
    call MPI_Wait(reqs(1), MPI_STATUS_IGNORE)
    if (got /= n - 1) requests_f08 = requests_f08 + 1
#ifdef PERSISTENT
    call MPI_Allreduce_init(mine, sum, 1, MPI_INTEGER, MPI_SUM, comm, MPI_INFO_NULL, reqs(1))
    call MPI_Barrier_init(comm, MPI_INFO_NULL, reqs(2))
    do i = 1, 3
      sum = -1
      call MPI_Startall(2, reqs)
      call MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE)
      if (sum /= n * (n - 1) / 2) requests_f08 = requests_f08 + 1
    end do
    call MPI_Request_free(reqs(1))
    call MPI_Request_free(reqs(2))
#endif
  end function requests_f08
end module by_f08

program sum_of_ranks
  use mpi
  use by_mpi, only: faults
  use by_f08, only: faults_f08
  implicit none
  integer :: rank, n, bad, all_bad, ierr

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  bad = faults(rank, n) + faults_f08(rank, n)
  call PMPI_Allreduce(bad, all_bad, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. all_bad == 0) print '(i0, a)', n, ' processes: good'
  call MPI_Finalize(ierr)
  if (all_bad /= 0) stop 1
end program sum_of_ranks
